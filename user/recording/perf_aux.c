/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of a perf.data that hold Intel PT. A buffer may stand in several records; what the file has in
 * one piece is not copied.
 */
#include "recording/perf_aux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "recording/perf_data.h"

enum { FILL = 8 };

/*
 * A tick of the TSC takes between 2^-12 and 2^7 ns, and the clock began within a century: then times of 56
 * bits stay in their order.
 */
static bool clock_is_sane(const struct trace_clock *clock)
{
	unsigned __int128 tick = (unsigned __int128)clock->mult << 12;
	int64_t zero = (int64_t)clock->zero;

	return clock->shift < 48 && tick >= 1ull << clock->shift &&
	       tick <= (unsigned __int128)1 << (clock->shift + 19) && zero < INT64_MAX / 2 &&
	       zero > INT64_MIN / 2;
}

/* perf 4.1 wrote fewer words than later ones; more than we know are passed over. */
int perf_aux_read_info(struct perf_events *events, const uint8_t *record, size_t size)
{
	struct snapshot *snapshot = events->snapshot;
	struct perf_auxtrace_info info = {0};

	if (size < 16 + 8 * (INFO_PER_CPU_MMAPS + 1))
		return fail(-EBADMSG, "its AUXTRACE_INFO is damaged");
	memcpy(&info, record, size < sizeof(info) ? size : sizeof(info));
	if (info.auxtrace_type != PERF_AUXTRACE_INTEL_PT)
		return fail(-ENOTSUP, "it has no Intel PT in it (AUX trace of type %u)", info.auxtrace_type);
	snapshot->params.pmu_type = (uint32_t)info.words[INFO_PMU_TYPE];
	snapshot->params.max_nonturbo_ratio = (uint8_t)info.words[INFO_MAX_NONTURBO_RATIO];
	snapshot->params.tsc_ctc_ratio_n = (uint32_t)info.words[INFO_TSC_CTC_N];
	snapshot->params.tsc_ctc_ratio_d = (uint32_t)info.words[INFO_TSC_CTC_D];
	snapshot->clock.shift = (uint16_t)info.words[INFO_TIME_SHIFT];
	snapshot->clock.mult = (uint32_t)info.words[INFO_TIME_MULT];
	snapshot->clock.zero = info.words[INFO_TIME_ZERO];
	if (!clock_is_sane(&snapshot->clock))
		return fail(-EBADMSG, "its clock is damaged");
	events->in_snapshots = info.words[INFO_SNAPSHOT_MODE];
	if (info.words[INFO_FILTER_LENGTH]) {
		if (size < sizeof(info) || info.words[INFO_FILTER_LENGTH] > size - sizeof(info))
			return fail(-EBADMSG, "its address filters are cut off");
		free(snapshot->filter);
		snapshot->filter =
			strndup((const char *)record + sizeof(info), info.words[INFO_FILTER_LENGTH]);
		if (!snapshot->filter)
			return -ENOMEM;
	}
	events->has_info = true;
	return 0;
}

/*
 * The trace that the buffer goes on with: that of the same ring, if nothing is missing between them but what
 * fills up to 8 bytes.
 */
static struct aux_trace *find_aux(const struct perf_events *events, const struct perf_auxtrace *head)
{
	struct snapshot *snapshot = events->snapshot;

	for (size_t i = snapshot->aux_cnt; i-- && !events->in_snapshots;) {
		struct aux_trace *aux = &snapshot->aux[i];

		if (aux->cpu != (int32_t)head->cpu || aux->tid != (int32_t)head->tid)
			continue;
		if (head->offset < aux->offset || aux->offset + aux->size - head->offset >= FILL)
			return NULL;
		aux->size = head->offset - aux->offset;
		return aux;
	}
	return NULL;
}

/* In one long stream a buffer that does not go on where the last one of its ring ended comes after a loss. */
static bool seen_before(const struct perf_events *events, const struct perf_auxtrace *head)
{
	const struct snapshot *snapshot = events->snapshot;

	/* The one that is being added is the last. */
	for (size_t i = 0; i + 1 < snapshot->aux_cnt && !events->in_snapshots; i++)
		if (snapshot->aux[i].cpu == (int32_t)head->cpu && snapshot->aux[i].tid == (int32_t)head->tid)
			return true;
	return false;
}

/* Its bytes become its own, with room for `more`. */
static int own_bytes(struct aux_trace *aux, size_t more)
{
	uint8_t *grown = realloc(aux->is_borrowed ? NULL : aux->bytes, aux->size + more + 1);

	if (!grown)
		return -ENOMEM;
	if (aux->is_borrowed && aux->size)
		memcpy(grown, aux->bytes, aux->size);
	aux->bytes = grown;
	aux->is_borrowed = false;
	return 0;
}

int perf_aux_read(struct perf_events *events, const uint8_t *record, size_t size, size_t left,
		  size_t *ret_size)
{
	struct perf_auxtrace head;
	struct aux_trace *aux;

	if (size < sizeof(head))
		return fail(-EBADMSG, "an AUXTRACE record is damaged");
	memcpy(&head, record, sizeof(head));
	if (head.bytes > left - size)
		return fail(-EBADMSG, "it is cut off in its trace data");
	aux = find_aux(events, &head);
	if (!aux) {
		aux = snapshot_add_aux(events->snapshot);
		if (!aux)
			return -ENOMEM;
		*aux = (struct aux_trace){.pid = -1,
					  .tid = (int32_t)head.tid,
					  .cpu = (int32_t)head.cpu,
					  .offset = head.offset,
					  .continues = seen_before(events, &head),
					  .ref_tsc = head.reference};
	}
	if (!aux->bytes && perf_events_in_file(events->snapshot, record)) {
		aux->bytes = (uint8_t *)record + size;
		aux->is_borrowed = true;
	} else {
		if (own_bytes(aux, head.bytes))
			return -ENOMEM;
		memcpy(aux->bytes + aux->size, record + size, head.bytes);
	}
	aux->size += head.bytes;
	*ret_size = size + head.bytes;
	return 0;
}
