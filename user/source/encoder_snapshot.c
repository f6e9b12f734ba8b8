/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/encoder_snapshot.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "source/encoder.h"

void encoder_describe(struct snapshot *snapshot, uint64_t now_ns)
{
	snapshot->params = encoder_default_params();
	snapshot->clock = encoder_default_clock();
	snapshot->clock.monotonic_ns = snapshot->clock.trace_ns = now_ns;
	snapshot->clock.realtime_ns = clock_ns(CLOCK_REALTIME);
}

int encoder_take(struct encoder *encoder, struct snapshot *snapshot, pid_t pid, pid_t tid, uint64_t now_ns)
{
	struct aux_trace *aux;
	int err;

	if (!aux_ring_held(&encoder->ring))
		return 0;
	aux = snapshot_add_aux(snapshot);
	if (!aux)
		return -ENOMEM;
	*aux = (struct aux_trace){.pid = pid, .tid = tid, .cpu = -1};
	err = aux_ring_linearise(&encoder->ring, &aux->bytes, &aux->size, &aux->offset);
	if (err)
		return err;
	aux->ref_tsc = trace_first_tsc(aux->bytes, aux->size, now_ns);
	aux_ring_take(&encoder->ring);
	encoder->psb_wanted = true;
	return 0;
}

void encoder_append(struct encoder *encoder, const struct encoder *more, uint64_t tsc)
{
	struct aux_ring ring;

	encoder_time(encoder, tsc);
	aux_ring_append(&encoder->ring, &more->ring);
	ring = encoder->ring;
	*encoder = *more;
	encoder->ring = ring;
	encoder->psb_at += ring.head - more->ring.head;
}
