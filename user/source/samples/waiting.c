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
#include <sys/uio.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "bpf/samples.h"
#include "source/samples/about.h"

enum { PAGE = 4096, PAGES_MAX = SAMPLES_STACK_MAX / PAGE + 1 };

struct found {
	struct samples_waiting *items;
	size_t cnt, cap;
};

static void found_release(struct found *found)
{
	free(found->items);
}

/* Whole records, however the kernel cuts them. */
static int read_all(int fd, struct found *found)
{
	struct samples_waiting one;
	size_t have = 0;
	ssize_t got;

	while ((got = read(fd, (uint8_t *)&one + have, sizeof(one) - have)) > 0) {
		have += (size_t)got;
		if (have < sizeof(one))
			continue;
		have = 0;
		if (ARRAY_PUSH(found->items, found->cnt, found->cap, one))
			return -ENOMEM;
	}
	return got < 0 ? -errno : 0;
}

static int look(const struct bpf_link *iterator, struct found *ret_found)
{
	int fd = bpf_iter_create(bpf_link__fd(iterator)), err;

	if (fd < 0)
		return -errno;
	err = read_all(fd, ret_found);
	close(fd);
	return err;
}

/* As much as there is of it, page by page. */
static size_t read_stack(pid_t pid, uint64_t sp, uint8_t *stack, size_t size)
{
	struct iovec local = {stack, size}, pages[PAGES_MAX];
	size_t cnt = 0;
	ssize_t got;

	for (size_t done = 0; done < size && cnt < PAGES_MAX; cnt++) {
		size_t piece = PAGE - (sp + done) % PAGE;

		if (piece > size - done)
			piece = size - done;
		pages[cnt] = (struct iovec){(void *)(uintptr_t)(sp + done), piece};
		done += piece;
	}
	got = process_vm_readv(pid, &local, 1, pages, cnt, 0);
	return got > 0 ? (size_t)got : 0;
}

static int copy_stack(struct stack_sample *sample, uint64_t sp, size_t stack_bytes)
{
	uint8_t *stack = malloc(stack_bytes);
	size_t size = stack ? read_stack(sample->pid, sp, stack, stack_bytes) : 0;

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
	struct stack_sample sample = {.time_ns = from->time_ns,
				      .pid = (int32_t)from->about.record.pid,
				      .tid = (int32_t)from->about.record.tid,
				      .cpu = -1,
				      .kind = SAMPLE_SWITCH_OUT,
				      .flags = SAMPLE_HAS_REGS | SAMPLE_IS_STILL,
				      .state = from->state & SAMPLE_STATE_MASK,
				      .call.nr = from->nr < 0 ? SAMPLE_NO_SYSCALL : from->nr};
	int err;

	for (size_t i = 0; i < ARCH_SAMPLED_CNT; i++)
		sample.regs[names[i]] = from->regs[i];
	memcpy(sample.call.args, from->args, sizeof(from->args));
	err = copy_stack(&sample, from->regs[ARCH_SAMPLED_SP], stack_bytes);
	if (!err)
		err = ARRAY_PUSH(waiting->items, waiting->cnt, waiting->cap, sample);
	if (err)
		free((void *)sample.stack);
	return err;
}

/* What it waits at. */
static void describe(struct stack_sample *sample, const struct samples_waiting *from,
		     struct samples_files *files)
{
	sample->call.about = samples_about_text(&from->about, files);
	sample->call.timeout_ns = from->about.record.about.timeout_ns;
	sample->call.has_timeout = sample->call.timeout_ns != SAMPLES_NO_TIMEOUT;
}

/* Keeps those that have not run since, which both lists have in the same order. */
static void keep_still(struct waiting *waiting, const struct found *before, const struct found *after,
		       struct samples_files *files)
{
	size_t kept = 0, nth = 0;

	for (size_t i = 0; i < waiting->cnt; i++) {
		const struct samples_waiting *then = &before->items[i];
		size_t at = nth;

		while (at < after->cnt && after->items[at].about.record.tid != then->about.record.tid)
			at++;
		if (at == after->cnt || after->items[at].switches != then->switches) {
			free((void *)waiting->items[i].stack);
			continue;
		}
		nth = at + 1;
		waiting->items[kept] = waiting->items[i];
		describe(&waiting->items[kept++], then, files);
	}
	waiting->cnt = kept;
}

int waiting_find(struct waiting *waiting, const struct bpf_link *iterator, size_t stack_bytes)
{
	CLEANUP(found_release) struct found before = {0};
	CLEANUP(found_release) struct found after = {0};
	CLEANUP(samples_files_freep) struct samples_files *files = NULL;
	int err;

	waiting_release(waiting);
	err = samples_files_new(&files);
	if (!err)
		err = look(iterator, &before);
	for (size_t i = 0; i < before.cnt && !err; i++)
		err = add(waiting, &before.items[i], stack_bytes);
	if (!err)
		err = look(iterator, &after);
	keep_still(waiting, &before, &after, files);
	return err;
}

void waiting_release(struct waiting *waiting)
{
	for (size_t i = 0; i < waiting->cnt; i++) {
		free((void *)waiting->items[i].stack);
		free(waiting->items[i].call.about);
	}
	free(waiting->items);
	*waiting = (struct waiting){0};
}
