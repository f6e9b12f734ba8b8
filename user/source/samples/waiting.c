/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF reads the registers of each, and this process the stacks then. A thread may run in between: those whose
 * number of switches has changed by then are left out. Where BPF may not be used, /proc says where the stack
 * is and where it ran, which is enough to unwind what has no frame pointer.
 */
#include "source/samples/waiting.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/containers/hash_index.h"
#include "process/memory.h"
#include "process/proc_status.h"
#include "process/proc_wait.h"
#include "source/samples/about.h"

enum { LIST_BYTES = 64 << 10 };

/* How /proc calls files that have no name. */
#define ANONYMOUS "anon_inode:"

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

static int list_by_bpf(const struct bpf_link *iterator, struct waiting_list *list)
{
	CLEANUP(freep) uint8_t *bytes = malloc(LIST_BYTES);
	int fd = bytes ? bpf_iter_create(bpf_link__fd(iterator)) : -1, err;

	if (fd < 0)
		return bytes ? -errno : -ENOMEM;
	err = read_list(fd, bytes, list);
	close(fd);
	return err;
}

/* What the descriptor stands for now. */
static void put_file(struct samples_record *record, uint8_t more[static SAMPLES_ABOUT_MORE])
{
	char link[64], path[PATH_MAX];
	struct stat stats;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)record->pid, record->about.fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0 || stat(link, &stats))
		return;
	path[len] = '\0';
	record->about.mode = (uint16_t)stats.st_mode;
	record->about.inode = stats.st_ino;
	if (!strncmp(path, ANONYMOUS, strlen(ANONYMOUS)))
		record->about.form = SAMPLES_FORM_ANONYMOUS;
	else if (path[0] == '/' && !S_ISSOCK(stats.st_mode))
		record->about.form = SAMPLES_FORM_PATH;
	else
		return;
	snprintf((char *)more, SAMPLES_COMPONENT, "%s",
		 path[0] == '/' ? strrchr(path, '/') + 1 : path + strlen(ANONYMOUS));
}

static int add_thread(pid_t pid, pid_t tid, struct waiting_list *list)
{
	struct samples_waiting one = {.about.record = {.pid = (uint32_t)pid, .tid = (uint32_t)tid}};
	struct samples_record *about = &one.about.record;
	struct proc_wait wait;

	if (proc_wait_read(tid, &wait))
		return 0;
	one.time_ns = clock_kernel_ns();
	one.switches = wait.switches;
	one.regs[ARCH_SAMPLED_SP] = wait.sp;
	one.regs[ARCH_SAMPLED_IP] = wait.ip;
	one.regs[ARCH_SAMPLED_ARG_0] = wait.args[0];
	one.regs[ARCH_SAMPLED_ARG_1] = wait.args[1];
	one.regs[ARCH_SAMPLED_ARG_2] = wait.args[2];
	one.nr = wait.nr;
	/* It is traced by us, and runs but for stops of the user's. */
	one.state = wait.state == 'S'	? SAMPLE_INTERRUPTIBLE
		    : wait.state == 'D' ? SAMPLE_UNINTERRUPTIBLE
					: SAMPLE_STOPPED;
	about->about.timeout_ns = SAMPLES_NO_TIMEOUT;
	about->about.fd =
		wait.nr >= 0 && syscall_info(wait.nr)->first == SYSCALL_FD ? (int32_t)wait.args[0] : -1;
	if (about->about.fd >= 0)
		put_file(about, one.about.more);
	return ARRAY_PUSH(list->items, list->cnt, list->cap, one);
}

static int list_by_proc(const struct waiting *waiting, struct waiting_list *list)
{
	int err = 0;

	for (size_t i = 0; i < waiting->pid_cnt && !err; i++) {
		CLEANUP(closedirp) DIR *threads = proc_threads(waiting->pids[i]);

		for (pid_t tid; !err && (tid = proc_next(threads));)
			err = add_thread(waiting->pids[i], tid, list);
	}
	return err;
}

static int list_waiting(const struct waiting *waiting, struct waiting_list *ret_list)
{
	list_release(ret_list);
	return waiting->iterator ? list_by_bpf(waiting->iterator, ret_list) : list_by_proc(waiting, ret_list);
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

int waiting_add(struct waiting *waiting, pid_t pid)
{
	return ARRAY_PUSH(waiting->pids, waiting->pid_cnt, waiting->pid_cap, pid);
}

void waiting_drop(struct waiting *waiting, pid_t pid)
{
	for (size_t i = 0; i < waiting->pid_cnt; i++)
		if (waiting->pids[i] == pid)
			waiting->pids[i--] = waiting->pids[--waiting->pid_cnt];
}

int waiting_find(struct waiting *waiting)
{
	list_release(&waiting->before);
	waiting->before = waiting->now;
	waiting->now = (struct waiting_list){0};
	return list_waiting(waiting, &waiting->now);
}

/* ---- each of them ---- */

static int copy_stack(struct stack_sample *sample, uint64_t sp)
{
	uint8_t *stack = malloc(SAMPLES_STACK);
	size_t size = stack ? memory_read(sample->tid, sp, stack, SAMPLES_STACK) : 0;

	if (!size) {
		free(stack);
		return stack ? 0 : -ENOMEM;
	}
	sample->stack = stack;
	sample->stack_size = (uint32_t)size;
	sample->is_stack_owned = true;
	if (size == SAMPLES_STACK)
		sample->flags |= SAMPLE_IS_CUT;
	return 0;
}

static int add(struct waiting_threads *threads, const struct samples_waiting *from)
{
#define NAME(reg, field) HIT_##reg,
	static const enum hit_reg names[] = {ARCH_SAMPLED(NAME)};
#undef NAME
	struct waiting_thread thread = {.sample = {.time_ns = from->time_ns,
						   .pid = (int32_t)from->about.record.pid,
						   .tid = (int32_t)tid_of(from),
						   .cpu = -1,
						   .kind = SAMPLE_SWITCH_OUT,
						   .flags = SAMPLE_IS_STILL,
						   .state = from->state & SAMPLE_STATE_MASK,
						   .switches = (uint32_t)from->switches,
						   .call.nr = from->nr < 0 ? SAMPLE_NO_SYSCALL : from->nr}};
	int err;

	if (!stack_sample_add_regs(&thread.sample))
		return -ENOMEM;
	for (size_t i = 0; i < ARCH_SAMPLED_CNT; i++)
		thread.sample.regs[names[i]] = from->regs[i];
	thread.sample.call.args[0] = from->regs[ARCH_SAMPLED_ARG_0];
	thread.sample.call.args[1] = from->regs[ARCH_SAMPLED_ARG_1];
	thread.sample.call.args[2] = from->regs[ARCH_SAMPLED_ARG_2];
	err = copy_stack(&thread.sample, from->regs[ARCH_SAMPLED_SP]);
	if (!err)
		err = ARRAY_PUSH(threads->items, threads->cnt, threads->cap, thread);
	if (err)
		stack_sample_release(&thread.sample);
	return err;
}

void waiting_threads_release(struct waiting_threads *threads)
{
	for (size_t i = 0; i < threads->cnt; i++)
		stack_sample_release(&threads->items[i].sample);
	free(threads->items);
	*threads = (struct waiting_threads){0};
}

/* What it waits at. */
static void describe_call(struct stack_sample *sample, const struct samples_waiting *from,
			  struct samples_files *files)
{
	sample->call.about = samples_about_text(&from->about, files);
	sample->call.timeout_ns = from->about.record.about.timeout_ns;
	sample->call.has_timeout = sample->call.timeout_ns != SAMPLES_NO_TIMEOUT;
}

/* It may be of later. */
static void drop_stack(struct stack_sample *sample)
{
	free((void *)sample->stack);
	sample->stack = NULL;
	sample->stack_size = 0;
	sample->is_stack_owned = false;
	sample->flags |= SAMPLE_IS_CUT;
}

/*
 * Of the threads, which are those of the list in its order. `all`: also those that have run since, without
 * their stacks.
 */
static int keep_still(struct waiting *waiting, bool all, struct samples_files *files)
{
	CLEANUP(list_release) struct waiting_list after = {0};
	CLEANUP(hash_index_release) struct hash_index by_tid = {0};
	CLEANUP(hash_index_release) struct hash_index known = {0};
	struct waiting_threads *threads = &waiting->threads;
	size_t kept = 0;
	int err = list_waiting(waiting, &after);

	if (!err)
		err = index_list(&after, &by_tid);
	if (!err)
		err = index_list(&waiting->before, &known);
	for (size_t i = 0; i < threads->cnt && !err; i++) {
		const struct samples_waiting *listed = &waiting->now.items[i];
		struct waiting_thread *thread = &threads->items[i];
		const struct samples_waiting *seen;
		bool is_still = find_in(&after, &by_tid, listed);

		if (!is_still && !all) {
			stack_sample_release(&thread->sample);
			continue;
		}
		if (!is_still)
			drop_stack(&thread->sample);
		seen = find_in(&waiting->before, &known, listed);
		thread->seen_ns = seen ? seen->time_ns : 0;
		describe_call(&thread->sample, listed, files);
		threads->items[kept++] = *thread;
	}
	if (err)
		waiting_threads_release(threads);
	else
		threads->cnt = kept;
	return err;
}

int waiting_describe(struct waiting *waiting, bool all)
{
	CLEANUP(samples_files_freep) struct samples_files *files = NULL;
	int err = samples_files_new(&files);

	waiting_threads_release(&waiting->threads);
	for (size_t i = 0; i < waiting->now.cnt && !err; i++)
		err = add(&waiting->threads, &waiting->now.items[i]);
	return err ? err : keep_still(waiting, all, files);
}

void waiting_move(struct waiting *waiting, struct waiting_threads *threads)
{
	waiting_threads_release(threads);
	*threads = waiting->threads;
	waiting->threads = (struct waiting_threads){0};
	list_release(&waiting->now);
}

void waiting_release(struct waiting *waiting)
{
	waiting_threads_release(&waiting->threads);
	list_release(&waiting->now);
	list_release(&waiting->before);
	bpf_link__destroy(waiting->iterator);
	free(waiting->pids);
	*waiting = (struct waiting){0};
}
