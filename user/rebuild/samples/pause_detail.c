/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/samples/pause_detail.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "rebuild/samples/sample_items.h"

struct length_text {
	char text[32];
};

static struct length_text length_text(uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	struct length_text length;
	double value = (double)ns;
	size_t unit = 0;

	for (; value >= 999.95 && unit < 3; unit++)
		value /= 1000;
	snprintf(length.text, sizeof(length.text), unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return length;
}

static bool is_futex_wait(const struct sample_call *call)
{
	uint64_t command = call->args[1] & FUTEX_CMD_MASK;

	return call->nr == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

/* It was halted, in whatever call it was. */
static bool is_halted(const struct pause_about *about)
{
	return about->kind == SLICE_OFF_CPU && about->left &&
	       about->left->state & (SAMPLE_STOPPED | SAMPLE_TRACED | SAMPLE_FROZEN);
}

/* Why it does not run: by the system call that it is in, else by the state that the kernel put it in. */
static const char *wait_name(const struct pause_about *about)
{
	uint32_t state = about->left ? about->left->state : 0;

	if (state & SAMPLE_STOPPED)
		return "[off-cpu] stopped";
	if (state & SAMPLE_TRACED)
		return "[off-cpu] ptrace-stop";
	if (state & SAMPLE_FROZEN)
		return "[off-cpu] frozen";
	if (about->call && is_futex_wait(about->call))
		return "[off-cpu] futex_wait";
	if (about->call && about->call->nr >= 0)
		return syscall_info(about->call->nr)->waiting;
	return state & SAMPLE_UNINTERRUPTIBLE ? "[off-cpu] disk or kernel lock" : "[off-cpu]";
}

/* "read of file descriptor 5, socket 127.0.0.1:6379, for 100.0 ms at most" */
static char *call_text(const struct sample_call *call, const char *what)
{
	const char *name = syscall_info(call->nr)->in + SYSCALL_NAME_AT;
	enum syscall_first kind = syscall_info(call->nr)->first;
	uint64_t first = call->args[0];
	bool is_limited = call->has_timeout && call->timeout_ns >= 0;
	char *text = NULL;
	size_t size;
	FILE *file;

	if (kind == SYSCALL_NOTHING && !what && !is_limited)
		return NULL;
	file = open_memstream(&text, &size);
	if (!file)
		return NULL;
	fputs(name, file);
	if (kind == SYSCALL_FD)
		fprintf(file, " of file descriptor %d", (int)first);
	else if (kind == SYSCALL_ADDRESS)
		fprintf(file, " at %#" PRIx64, first);
	else if (kind == SYSCALL_PROCESS)
		fprintf(file, " of process %d", (int)first);
	if (what)
		fprintf(file, ", %s", what);
	if (is_limited)
		fprintf(file, ", for %s at most", length_text((uint64_t)call->timeout_ns).text);
	if (!fclose(file))
		return text;
	free(text);
	return NULL;
}

/* The same for who reads it by a program. */
static void put_call(struct slice_detail *detail, const struct sample_call *call, const char *what)
{
	detail->about = call_text(call, what);
	detail->file = what ? strdup(what) : NULL;
	detail->has_fd = syscall_info(call->nr)->first == SYSCALL_FD;
	detail->fd = detail->has_fd ? (int32_t)call->args[0] : 0;
	detail->has_futex = call->nr == SYS_futex;
	detail->futex = detail->has_futex ? call->args[0] : 0;
	detail->has_timeout = call->has_timeout;
	detail->timeout_ns = call->timeout_ns;
}

/* What wakes threads and is none; NULL: a thread did. */
static const char *interrupt_name(const struct stack_sample *woken)
{
	return woken->flags & SAMPLE_FROM_TIMER ? "a timer"
	       : woken->flags & SAMPLE_FROM_IRQ ? "an interrupt"
						: NULL;
}

/* A thread of the targets as it is called now, another one as it was called then. */
static const char *waker_name(const struct pause_about *about)
{
	return about->waker		   ? about->waker
	       : *about->woken->other.name ? about->woken->other.name
					   : "another program";
}

static char *waker_text(const struct pause_about *about)
{
	const struct stack_sample *woken = about->woken;
	char *text;

	if (interrupt_name(woken))
		return strdup(interrupt_name(woken));
	if (!woken->other.tid)
		return NULL;
	if (woken->other.tid == SAMPLE_OUTSIDE)
		return strdup(waker_name(about));
	return asprintf(&text, "%s (tid %d)", waker_name(about), woken->other.tid) < 0 ? NULL : text;
}

/* "[off-cpu] read, socket 127.0.0.1:6379, woken by worker-3 after 2.1 ms" */
static char *pause_title(const struct pause_about *about, const struct slice_detail *detail)
{
	const struct stack_sample *woken = about->woken;
	const char *by = woken ? interrupt_name(woken) : NULL, *comma = detail->file ? ", " : "",
		   *what = detail->file ? detail->file : "";
	char *title;
	int len;

	if (woken && !by && woken->other.tid)
		by = waker_name(about);
	if (woken)
		len = asprintf(&title, "%s%s%s, woken%s%s after %s%s", detail->name, comma, what,
			       by ? " by " : "", by ? by : "", about->began_before ? "at least " : "",
			       length_text(about->length_ns).text);
	else
		len = asprintf(&title, "%s%s%s", detail->name, comma, what);
	return len < 0 ? NULL : title;
}

static char *thread_text(const struct sample_thread *thread)
{
	char *text;

	if (thread->tid == SAMPLE_OUTSIDE)
		return strdup("outside of this pid namespace");
	if (thread->tid == SAMPLE_THROTTLED)
		return strdup("its cgroup had used up its time (cpu.max)");
	return asprintf(&text, "process %d, thread %d", thread->pid, thread->tid) < 0 ? NULL : text;
}

static const char *queue_reason(const struct pause_about *about)
{
	return about->in->other.tid == SAMPLE_THROTTLED ? "its cpu limit" : about->in->other.name;
}

/* "[run-queue] behind hog for 2.1 ms" */
static char *queue_title(const struct pause_about *about)
{
	char *title;

	return asprintf(&title, "[run-queue] behind %s for %s", queue_reason(about),
			length_text(about->length_ns).text) < 0
		       ? NULL
		       : title;
}

/* Nothing more is known than that it was ready, where the processor was idle. */
static int queue_detail(struct timeline *timeline, const struct pause_about *about,
			const struct slice_detail **ret_detail)
{
	struct slice_detail detail = {.name = "[run-queue]"};

	if (!about->in || !about->in->other.tid)
		return 0;
	detail.behind = strdup(queue_reason(about));
	detail.about = thread_text(&about->in->other);
	detail.title = queue_title(about);
	return timeline_add_detail(timeline, &detail, ret_detail);
}

/* What the system call is about: a file, or a lock that has a name. */
static const char *find_what(const struct sample_context *context, int32_t pid,
			     const struct sample_call *call)
{
	if (call->about || call->nr != SYS_futex || !context->variable_at)
		return call->about;
	return context->variable_at(context->ctx, pid, call->args[0]);
}

int pause_detail(const struct sample_context *context, int32_t pid, const struct pause_about *about,
		 const struct slice_detail **ret_detail)
{
	struct timeline *timeline = context->timeline;
	struct slice_detail detail = {0};
	bool has_call = about->call && about->call->nr >= 0 && !is_halted(about);

	if (about->kind == SLICE_RUN_QUEUE)
		return queue_detail(timeline, about, ret_detail);
	if (about->kind == SLICE_OFF_CPU)
		detail.name = wait_name(about);
	else
		detail.name = syscall_info(has_call ? about->call->nr : SAMPLE_NO_SYSCALL)->in;
	if (has_call)
		put_call(&detail, about->call, find_what(context, pid, about->call));
	if (about->woken)
		detail.woken_by = waker_text(about);
	if (about->woken || detail.file)
		detail.title = pause_title(about, &detail);
	if (about->end) {
		detail.has_result = true;
		detail.result = about->end->call.result;
	}
	return timeline_add_detail(timeline, &detail, ret_detail);
}

int pause_interrupt_detail(struct timeline *timeline, const struct stack_sample *sample,
			   const struct slice_detail **ret_detail)
{
	struct slice_detail detail = {0};
	char name[SAMPLE_NAME_BYTES + 16];

	snprintf(name, sizeof(name), "[%s] %s", sample->other.pid ? "softirq" : "irq", sample->other.name);
	detail.name = timeline_value_name(timeline, name);
	return detail.name ? timeline_add_detail(timeline, &detail, ret_detail) : -ENOMEM;
}

char *pause_loss_text(const struct stack_sample *sample)
{
	const char *what =
		sample->flags & SAMPLE_LOST_MOMENTS ? "switches, wake-ups or system calls" : "samples";
	char *text;
	int len = sample->lost_cnt ? asprintf(&text, "[gap: lost %s: %" PRIu64 "]", what, sample->lost_cnt)
				   : asprintf(&text, "[gap: lost %s]", what);

	return len < 0 ? NULL : text;
}

char *pause_migration_text(int32_t from, int32_t to)
{
	char *text;

	return asprintf(&text, "[migrated: from processor %d to %d]", from, to) < 0 ? NULL : text;
}

int pause_set_migration(struct instant *instant, int32_t from, int32_t to)
{
	const struct instant_arg args[] = {{.name = "from", .type = INSTANT_NUMBER, .number = (uint64_t)from},
					   {.name = "to", .type = INSTANT_NUMBER, .number = (uint64_t)to}};
	int err;

	instant->name = strdup("migrated");
	err = instant->name ? instant_add_arg(instant, &args[0]) : -ENOMEM;
	return err ? err : instant_add_arg(instant, &args[1]);
}
