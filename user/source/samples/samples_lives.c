/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <bpf/libbpf.h>

#include "base/error.h"
#include "bpf/samples.skel.h"
#include "source/samples/samples_internal.h"

static int on_life(void *ctx, void *data, size_t size)
{
	static const enum thread_life_kind kinds[] = {
		[SAMPLES_BORN] = THREAD_BORN,
		[SAMPLES_ENDED] = THREAD_ENDED,
		[SAMPLES_REPLACED] = THREAD_REPLACED,
	};
	const struct samples *samples = ctx;
	const struct samples_life *told = data;
	const struct thread_life life = {.kind = kinds[told->kind],
					 .pid = (int32_t)told->pid,
					 .tid = (int32_t)told->tid,
					 .time_ns = told->time_ns,
					 .name = told->name};

	(void)size;
	return samples->tell(samples->tell_ctx, &life);
}

int samples_open_lives(struct samples *samples)
{
	if (!samples->config.lives)
		return 0;
	samples->lives = ring_buffer__new(bpf_map__fd(samples->bpf->maps.lives), on_life, samples, NULL);
	return samples->lives ? 0 : fail_errno(-errno, "cannot read births of threads");
}

int samples_lives(struct samples *samples, int (*tell)(void *ctx, const struct thread_life *life), void *ctx)
{
	int cnt;

	if (!samples->lives)
		return -ENOTSUP;
	if (!tell)
		return 0;
	samples->tell = tell;
	samples->tell_ctx = ctx;
	cnt = ring_buffer__consume(samples->lives);
	return cnt < 0 ? cnt : 0;
}

int samples_lives_fd(const struct samples *samples)
{
	return samples->lives ? ring_buffer__epoll_fd(samples->lives) : -1;
}

uint64_t samples_untold_cnt(const struct samples *samples)
{
	return samples->perf ? 0 : samples->bpf->bss->untold_cnt;
}
