/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF reads the registers of each, and this process the stacks then. A thread may run in between: those whose number
 * of switches has changed by then are left out.
 */
#include "source/samples/waiting.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/containers/hash_index.h"
#include "process/memory.h"
#include "source/samples/about.h"

enum { LIST_BYTES = 64 << 10 };

/* ---- the list ---- */

static void list_release(struct waiting_list *list)
{
	free(list->items);
	*list = (struct waiting_list){0};
}

static uint32_t tid_of(const struct samples_waiting *item)
{
	return item->about.record.tid;
}

/* Whole records, however the kernel cuts them. */
static int read_list(int fd, uint8_t *bytes, struct waiting_list *list)
{
	struct samples_waiting one;
	size_t have = 0;
	ssize_t got;

	while ((got = read(fd, bytes + have, LIST_BYTES - have)) > 0) {
		size_t done = 0;

		for (have += (size_t)got; have - done >= sizeof(one); done += sizeof(one)) {
			memcpy(&one, bytes + done, sizeof(one));
			if (ARRAY_PUSH(list->items, list->cnt, list->cap, one))
				return -ENOMEM;
		}
		have -= done;
		memmove(bytes, bytes + done, have);
	}
	return got < 0 ? -errno : 0;
}

static int list_waiting(const struct bpf_link *iterator, struct waiting_list *ret_list)
{
	CLEANUP(freep) uint8_t *bytes = malloc(LIST_BYTES);
	int fd = bytes ? bpf_iter_create(bpf_link__fd(iterator)) : -1, err;

	if (fd < 0)
		return bytes ? -errno : -ENOMEM;
	list_release(ret_list);
	err = read_list(fd, bytes, ret_list);
	close(fd);
	return err;
}

static int index_list(const struct waiting_list *list, struct hash_index *index)
{
	int err = 0;

	for (size_t i = 0; i < list->cnt && !err; i++)
		err = hash_index_add(index, hash_number(0, tid_of(&list->items[i])), i);
	return err;
}

/* The same thread in the list, if it has not run between; else NULL. */
static const struct samples_waiting *find_in(const struct waiting_list *list, const struct hash_index *index,
					     const struct samples_waiting *item)
{
	for (size_t at = 0, i;
	     (i = hash_index_next(index, hash_number(0, tid_of(item)), &at)) != HASH_INDEX_END;)
		if (tid_of(&list->items[i]) == tid_of(item))
			return list->items[i].switches == item->switches ? &list->items[i] : NULL;
	return NULL;
}

int waiting_find(struct waiting *waiting, const struct bpf_link *iterator)
{
	list_release(&waiting->before);
	waiting->before = waiting->now;
	waiting->now = (struct waiting_list){0};
	return list_waiting(iterator, &waiting->now);
}

/* ---- each of them ---- */

static int copy_stack(struct stack_sample *sample, uint64_t sp, size_t stack_bytes)
{
	uint8_t *stack = malloc(stack_bytes);
	size_t size = stack ? memory_read(sample->tid, sp, stack, stack_bytes) : 0;

	if (!size) {
		free(stack);
		return stack ? 0 : -ENOMEM;
	}
	sample->stack = stack;
	sample->stack_size = size;
	sample->is_stack_owned = true;
	if (size == stack_bytes)
		sample->flags |= SAMPLE_IS_CUT;
	return 0;
}

static int add(struct waiting *waiting, const struct samples_waiting *from, size_t stack_bytes)
{
#define NAME(reg, field) HIT_##reg,
	static const enum hit_reg names[] = {ARCH_SAMPLED(NAME)};
#undef NAME
	struct waiting_thread thread = {.sample = {.time_ns = from->time_ns,
						   .pid = (int32_t)from->about.record.pid,
						   .tid = (int32_t)tid_of(from),
						   .cpu = -1,
						   .kind = SAMPLE_SWITCH_OUT,
						   .flags = SAMPLE_HAS_REGS | SAMPLE_IS_STILL,
						   .state = from->state & SAMPLE_STATE_MASK,
						   .call.nr = from->nr < 0 ? SAMPLE_NO_SYSCALL : from->nr}};
	int err;

	for (size_t i = 0; i < ARCH_SAMPLED_CNT; i++)
		thread.sample.regs[names[i]] = from->regs[i];
	thread.sample.call.args[0] = from->regs[ARCH_SAMPLED_ARG_0];
	thread.sample.call.args[1] = from->regs[ARCH_SAMPLED_ARG_1];
	thread.sample.call.args[2] = from->regs[ARCH_SAMPLED_ARG_2];
	err = copy_stack(&thread.sample, from->regs[ARCH_SAMPLED_SP], stack_bytes);
	if (!err)
		err = ARRAY_PUSH(waiting->threads, waiting->cnt, waiting->cap, thread);
	if (err)
		stack_sample_release(&thread.sample);
	return err;
}

static void release_threads(struct waiting *waiting)
{
	for (size_t i = 0; i < waiting->cnt; i++)
		stack_sample_release(&waiting->threads[i].sample);
	waiting->cnt = 0;
}

/* What it waits at. */
static void describe_call(struct stack_sample *sample, const struct samples_waiting *from,
			  struct samples_files *files)
{
	sample->call.about = samples_about_text(&from->about, files);
	sample->call.timeout_ns = from->about.record.about.timeout_ns;
	sample->call.has_timeout = sample->call.timeout_ns != SAMPLES_NO_TIMEOUT;
}

/* Of the threads, which are those of the list in its order. */
static int keep_still(struct waiting *waiting, const struct bpf_link *iterator, struct samples_files *files)
{
	CLEANUP(list_release) struct waiting_list after = {0};
	CLEANUP(hash_index_release) struct hash_index by_tid = {0};
	CLEANUP(hash_index_release) struct hash_index known = {0};
	size_t kept = 0;
	int err = list_waiting(iterator, &after);

	if (!err)
		err = index_list(&after, &by_tid);
	if (!err)
		err = index_list(&waiting->before, &known);
	for (size_t i = 0; i < waiting->cnt && !err; i++) {
		const struct samples_waiting *listed = &waiting->now.items[i];
		struct waiting_thread *thread = &waiting->threads[i];
		const struct samples_waiting *seen;

		if (!find_in(&after, &by_tid, listed)) {
			stack_sample_release(&thread->sample);
			continue;
		}
		seen = find_in(&waiting->before, &known, listed);
		thread->seen_ns = seen ? seen->time_ns : 0;
		describe_call(&thread->sample, listed, files);
		waiting->threads[kept++] = *thread;
	}
	if (err)
		release_threads(waiting);
	else
		waiting->cnt = kept;
	return err;
}

int waiting_describe(struct waiting *waiting, const struct bpf_link *iterator, size_t stack_bytes)
{
	CLEANUP(samples_files_freep) struct samples_files *files = NULL;
	int err = samples_files_new(&files);

	release_threads(waiting);
	for (size_t i = 0; i < waiting->now.cnt && !err; i++)
		err = add(waiting, &waiting->now.items[i], stack_bytes);
	return err ? err : keep_still(waiting, iterator, files);
}

void waiting_release(struct waiting *waiting)
{
	release_threads(waiting);
	free(waiting->threads);
	list_release(&waiting->now);
	list_release(&waiting->before);
	*waiting = (struct waiting){0};
}
