/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each processor has a ring of its own, and these reach back unequally. A thread that moves leaves some of
 * its switches in one that may be overwritten:
 *
 *	processor 0	out ....................................... in
 *	processor 1	overwritten: in, out, in, out ........|
 *
 * What is seen here looks like one long wait. So each switch says how many the thread had made by then: as
 * many when it runs again as when it stopped, or it has run in between. And who runs on another processor
 * without a switch to there, or begins to run without having stopped, has been somewhere unseen.
 *
 * It is not known on which processor it was. All losses meanwhile count.
 */
#include "rebuild/samples/sample_gaps.h"

#include "base/array.h"

int sample_gaps_expect(struct sample_gaps *gaps, const struct snapshot *snapshot)
{
	int err = 0;

	for (size_t i = 0; i < snapshot->sample_cnt && !err; i++) {
		const struct stack_sample *sample = &snapshot->samples[i];

		if (sample->kind == SAMPLE_LOST && !sample->tid && !(sample->flags & SAMPLE_LOST_TICKS))
			err = ARRAY_PUSH(gaps->losses, gaps->loss_cnt, gaps->loss_cap, sample);
	}
	return err;
}

static int thread_get(struct sample_gaps *gaps, const struct stack_sample *sample,
		      struct gaps_thread **ret_thread)
{
	const struct gaps_thread fresh = {.pid = sample->pid, .tid = sample->tid, .cpu = -1};
	uint64_t hash = hash_number(hash_number(0, (uint32_t)sample->pid), (uint32_t)sample->tid);
	int err;

	for (size_t at = 0, i; (i = hash_index_next(&gaps->by_tid, hash, &at)) != HASH_INDEX_END;) {
		*ret_thread = &gaps->threads[i];
		if ((*ret_thread)->pid == sample->pid && (*ret_thread)->tid == sample->tid)
			return 0;
	}
	err = ARRAY_PUSH(gaps->threads, gaps->thread_cnt, gaps->thread_cap, fresh);
	if (!err)
		err = hash_index_add(&gaps->by_tid, hash, gaps->thread_cnt - 1);
	*ret_thread = err ? NULL : &gaps->threads[gaps->thread_cnt - 1];
	return err;
}

/* It was told to those already. */
static void pass_loss(struct sample_gaps *gaps, const struct stack_sample *loss)
{
	for (size_t i = 0; i < gaps->thread_cnt; i++)
		if (sample_gaps_concerns(loss, gaps->threads[i].cpu))
			gaps->threads[i].last_ns = loss->time_ns;
}

/* Whether the thread made other switches since what is known of it. */
static bool has_switched(const struct gaps_thread *thread, const struct stack_sample *sample)
{
	bool is_other = thread->switches && sample->switches && thread->switches != sample->switches;

	if (!thread->last_ns)
		return false;
	if (sample->kind == SAMPLE_SWITCH_IN || sample->flags & SAMPLE_IS_STILL)
		return !thread->is_off || is_other;
	return thread->is_off || (thread->cpu >= 0 && sample->cpu >= 0 && thread->cpu != sample->cpu);
}

/* One gap, of all that is missing meanwhile. What may have ended another wait comes behind it. */
static int add_gap(struct sample_gaps *gaps, const struct gaps_thread *thread,
		   const struct stack_sample *sample)
{
	uint64_t until = sample->time_ns;
	struct stack_sample gap = {.since_ns = UINT64_MAX,
				   .pid = sample->pid,
				   .tid = sample->tid,
				   .cpu = -1,
				   .kind = SAMPLE_LOST,
				   .call.nr = SAMPLE_NO_SYSCALL};

	for (size_t i = 0; i < gaps->loss_cnt; i++) {
		const struct stack_sample *loss = gaps->losses[i];

		if (loss->time_ns <= thread->last_ns || loss->since_ns >= sample->time_ns)
			continue;
		gap.flags |= loss->flags;
		gap.since_ns = loss->since_ns < gap.since_ns ? loss->since_ns : gap.since_ns;
		gap.time_ns = loss->time_ns > gap.time_ns ? loss->time_ns : gap.time_ns;
	}
	if (!gap.time_ns)
		return 0;
	if (gap.since_ns < thread->last_ns)
		gap.since_ns = thread->last_ns;
	if (thread->woken_ns > gap.since_ns)
		until = thread->woken_ns;
	if (gap.time_ns >= until)
		gap.time_ns = until - 1;
	return ARRAY_PUSH(gaps->found, gaps->found_cnt, gaps->found_cap, gap);
}

static void note(struct gaps_thread *thread, const struct stack_sample *sample)
{
	thread->is_off = sample->kind == SAMPLE_SWITCH_OUT && !(sample->state & SAMPLE_ENDED);
	thread->switches = thread->is_off ? sample->switches : 0;
	thread->woken_ns = 0;
	thread->last_ns = sample->time_ns;
	if (!(sample->flags & SAMPLE_IS_STILL))
		thread->cpu = sample->cpu;
}

int sample_gaps_add(struct sample_gaps *gaps, const struct stack_sample *sample)
{
	struct gaps_thread *thread;
	int err;

	if (!gaps->loss_cnt || (sample->kind == SAMPLE_LOST && sample->flags & SAMPLE_LOST_TICKS))
		return 0;
	if (sample->kind == SAMPLE_LOST && !sample->tid) {
		pass_loss(gaps, sample);
		return 0;
	}
	err = thread_get(gaps, sample, &thread);
	if (err)
		return err;
	if (sample->kind == SAMPLE_WAKE_UP) {
		thread->woken_ns = thread->woken_ns ? thread->woken_ns : sample->time_ns;
		return 0;
	}
	if (sample->kind != SAMPLE_LOST && has_switched(thread, sample))
		err = add_gap(gaps, thread, sample);
	note(thread, sample);
	return err;
}

uint64_t sample_gaps_end(const struct sample_gaps *gaps, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t end = from_ns;

	for (size_t i = 0; i < gaps->loss_cnt; i++)
		if (gaps->losses[i]->since_ns < until_ns && gaps->losses[i]->time_ns > end)
			end = gaps->losses[i]->time_ns;
	return end < until_ns ? end : until_ns;
}

void sample_gaps_release(struct sample_gaps *gaps)
{
	free(gaps->losses);
	free(gaps->threads);
	free(gaps->found);
	hash_index_release(&gaps->by_tid);
}
