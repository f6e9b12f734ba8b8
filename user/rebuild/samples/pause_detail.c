/* SPDX-License-Identifier: BSD-2-Clause */
#include "rebuild/samples/pause_detail.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "rebuild/samples/syscalls.h"

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

/* Why it does not run: by the system call that it is in, else by the state that the kernel put it in. */
static const char *wait_name(const struct pause_about *about)
{
	uint32_t state = about->left ? about->left->state : 0;

	if (state & SAMPLE_STOPPED)
		return "[off-cpu] stopped";
	if (state & SAMPLE_TRACED)
		return "[off-cpu] traced";
	if (about->call && is_futex_wait(about->call))
		return "[off-cpu] futex_wait";
	if (about->call && about->call->nr >= 0)
		return syscall_info(about->call->nr)->waiting;
	return state & SAMPLE_UNINTERRUPTIBLE ? "[off-cpu] disk or kernel lock" : "[off-cpu]";
}

static char *call_text(const struct sample_call *call)
{
	const char *name = syscall_info(call->nr)->in + SYSCALL_NAME_AT;
	uint64_t first = call->args[0];
	char *text = NULL;
	int len = 0;

	switch (call->about ? SYSCALL_FD : syscall_info(call->nr)->first) {
	case SYSCALL_FD:
		len = asprintf(&text, "%s of file descriptor %d%s%s", name, (int)first,
			       call->about ? ", " : "", call->about ? call->about : "");
		break;
	case SYSCALL_ADDRESS:
		len = asprintf(&text, "%s at %#" PRIx64, name, first);
		break;
	case SYSCALL_PROCESS:
		len = asprintf(&text, "%s of process %d", name, (int)first);
		break;
	default:
		break;
	}
	return len < 0 ? NULL : text;
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

/* "[off-cpu] futex_wait, woken by worker-3 after 2.1 ms" */
static char *wait_title(const struct pause_about *about, const char *name)
{
	const struct stack_sample *woken = about->woken;
	const char *by = interrupt_name(woken);
	char *title;

	if (!by && woken->other.tid)
		by = waker_name(about);
	return asprintf(&title, "%s, woken%s%s after %s", name, by ? " by " : "", by ? by : "",
			length_text(about->length_ns).text) < 0
		       ? NULL
		       : title;
}

static char *thread_text(const struct sample_thread *thread)
{
	char *text;

	if (thread->tid == SAMPLE_OUTSIDE)
		return strdup("outside of this pid namespace");
	return asprintf(&text, "process %d, thread %d", thread->pid, thread->tid) < 0 ? NULL : text;
}

/* "[run-queue] behind hog for 2.1 ms" */
static char *queue_title(const struct pause_about *about)
{
	char *title;

	return asprintf(&title, "[run-queue] behind %s for %s", about->in->other.name,
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
	detail.behind = strdup(about->in->other.name);
	detail.about = thread_text(&about->in->other);
	detail.title = queue_title(about);
	return timeline_add_detail(timeline, &detail, ret_detail);
}

int pause_detail(struct timeline *timeline, const struct pause_about *about,
		 const struct slice_detail **ret_detail)
{
	struct slice_detail detail = {0};
	bool has_call = about->call && about->call->nr >= 0;

	if (about->kind == SLICE_RUN_QUEUE)
		return queue_detail(timeline, about, ret_detail);
	if (about->kind == SLICE_OFF_CPU)
		detail.name = wait_name(about);
	else
		detail.name = syscall_info(has_call ? about->call->nr : SAMPLE_NO_SYSCALL)->in;
	if (has_call)
		detail.about = call_text(about->call);
	if (about->woken) {
		detail.woken_by = waker_text(about);
		detail.title = wait_title(about, detail.name);
	}
	if (about->end) {
		detail.has_result = true;
		detail.result = about->end->call.result;
	}
	return timeline_add_detail(timeline, &detail, ret_detail);
}
