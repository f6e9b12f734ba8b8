/* SPDX-License-Identifier: BSD-2-Clause */
/* Which processes are recorded, which of their threads begin and end, and when they map code. */
#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "bpf/samples.skel.h"
#include "source/samples/code.h"
#include "source/samples/perf_samples.h"
#include "source/samples/samples_internal.h"
#include "source/samples/waiting.h"

/* ---- processes ---- */

/* The programs change these, too. */
static void mark(const struct samples *samples, uint32_t pid, bool is_target)
{
	__u64 *word = &samples->bpf->bss->marks[pid / 64], bit = 1ull << pid % 64;

	if (is_target)
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED);
	__atomic_fetch_add(&samples->bpf->bss->marks_changes, 1, __ATOMIC_RELEASE);
}

static int add_target(const struct samples *samples, pid_t pid, uint8_t value)
{
	const uint32_t key = (uint32_t)pid;

	if (!bpf_map_update_elem(bpf_map__fd(samples->bpf->maps.targets), &key, &value, BPF_ANY)) {
		mark(samples, key, value == SAMPLES_TARGET);
		return 0;
	}
	return errno == E2BIG ? fail(-E2BIG, "more than %d processes cannot be recorded at once",
				     SAMPLES_TARGETS_MAX)
			      : fail_errno(-errno, "cannot record process %d", (int)pid);
}

int samples_add(struct samples *samples, pid_t pid, bool at_exec)
{
	int err;

	if (samples->perf) {
		err = perf_samples_add(samples->perf, pid, at_exec);
		return err ? err : waiting_add(&samples->waiting, pid);
	}
	err = add_target(samples, pid, at_exec ? SAMPLES_AT_EXEC : SAMPLES_TARGET);
	if (!err && !at_exec)
		samples_code_find(samples->bpf, pid);
	return err;
}

int samples_add_child(struct samples *samples, pid_t pid)
{
	int err;

	/* Perf's events were inherited. */
	if (samples->perf)
		return waiting_add(&samples->waiting, pid);
	err = add_target(samples, pid, SAMPLES_TARGET);
	/* So was what is mapped; but it may be a JVM. */
	if (!err && samples->bpf->bss->some_keep_all)
		samples_code_find(samples->bpf, pid);
	return err;
}

void samples_drop(struct samples *samples, pid_t pid)
{
	const uint32_t key = (uint32_t)pid;

	if (samples->perf) {
		waiting_drop(&samples->waiting, pid);
		return;
	}
	bpf_map_delete_elem(bpf_map__fd(samples->bpf->maps.targets), &key);
	mark(samples, key, false);
}

/* ---- threads ---- */

static int on_life(void *ctx, void *data, size_t size)
{
	static const enum thread_life_kind kinds[] = {
		[SAMPLES_BORN] = THREAD_BORN,
		[SAMPLES_ENDED] = THREAD_ENDED,
		[SAMPLES_REPLACED] = THREAD_REPLACED,
		[SAMPLES_MAPPED] = THREAD_MAPPED,
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
