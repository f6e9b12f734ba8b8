/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translating in the table of sources, and as a driver of the session: the targets are never held for it but
 * in the stops that the session makes anyway.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "process/launch.h"
#include "process/proc_status.h"
#include "session/driver.h"
#include "source/source.h"
#include "source/translate/leave.h"
#include "source/translate/room.h"
#include "source/translate/translate.h"

enum { TRACE_SIZE_DEFAULT = 16 << 20, LOOK_MS = 10, GIVEN_BACK_SAID = 8 };

struct translated {
	struct translate *translate;
	struct session *session;
	bool waits;	    /* for the start: the targets run natively */
	int err;	    /* the first one of an event */
	uint64_t looked_ns; /* CLOCK_MONOTONIC: whether there is memory enough */
	bool is_cramped;
	size_t given_back; /* threads that run natively from some time on */
};

static void note(struct translated *translated, int err)
{
	translated->err = translated->err ? translated->err : err;
}

static void gave_back(void *ctx, pid_t tid, const char *why)
{
	static const char sentence[] = "from here on thread %d runs natively and is not recorded: %s";
	struct translated *translated = ctx;

	/* A server may start a process for each client. */
	if (translated->given_back++ < GIVEN_BACK_SAID)
		log_warn(sentence, (int)tid, why);
	else
		log_debug(sentence, (int)tid, why);
}

/* ---- the driver ---- */

static int plug(void *self, struct session *session)
{
	struct translated *translated = self;

	translated->session = session;
	return 0;
}

static int thread_new(void *self, struct session_thread *thread)
{
	((struct translated_thread *)thread)->translated = self;
	return 0;
}

static void executed(void *self, struct session_thread *thread)
{
	struct translated *translated = self;
	bool has_ended = false;
	int status;

	if (translated->waits)
		return;
	note(translated,
	     translate_executed(translated->translate, thread->process->pid, &has_ended, &status));
	if (has_ended)
		session_on_end(translated->session, thread, status);
}

static int pass(void *self, struct session_thread *thread, int signal)
{
	const struct translated *translated = self;

	return translate_signal(translated->translate, thread->tid, signal);
}

/*
 * Of those that are to be taken over, one after another: each is held for a moment only. The newest one is
 * the first: waitpid(2) tells of the thread first that was seized last, so that who comes from its system
 * call does not wait for all others.
 */
static void interrupt_next(const struct translated *translated)
{
	for (size_t i = session_thread_cnt(translated->session); i--;) {
		struct session_thread *thread = session_thread_at(translated->session, i);
		struct translated_thread *own = (struct translated_thread *)thread;

		if (thread->dead || own->is_asked ||
		    !translate_wants(translated->translate, thread->process->pid, thread->tid))
			continue;
		own->is_asked = true;
		if (!ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) && !proc_is_unstoppable(thread->tid))
			return;
	}
}

static void event_stop(void *self, struct session_thread *thread)
{
	const struct translated *translated = self;

	translate_event_stop(translated->translate, thread->tid);
	interrupt_next(translated);
}

/* As if all were attached to now. */
static int reached(void *self)
{
	struct translated *translated = self;
	const struct session_thread *thread;
	int err = 0;

	if (!translated->waits)
		return 0;
	translated->waits = false;
	for (size_t i = 0; (thread = session_thread_at(translated->session, i)) && !err; i++)
		if (!thread->dead && thread->process->runs_itself)
			err = translate_attach(translated->translate, thread->process->pid);
	interrupt_next(translated);
	return err;
}

static int take_over(void *self, struct session_thread *thread)
{
	struct translated *translated = self;
	bool has_ended;
	int status, err = translate_take_over(translated->translate, thread->process->pid, thread->tid,
					      &has_ended, &status);

	if (has_ended)
		session_on_end(translated->session, thread, status);
	return err;
}

static enum __ptrace_request resume(void *self, struct session_thread *thread, enum __ptrace_request request,
				    int *signal)
{
	const struct translated *translated = self;

	(void)signal;
	return translate_waits(translated->translate, thread->tid) ? PTRACE_SYSCALL : request;
}

static void ended(void *self, struct session_thread *thread)
{
	struct translated *translated = self;

	note(translated, translate_ended(translated->translate, thread->tid));
	interrupt_next(translated);
}

/* ---- letting go ---- */

static void let_go(struct session_thread *thread)
{
	if (thread->held)
		translate_let_go(((struct translated_thread *)thread)->translated->translate,
				 thread->process->pid, thread->tid, thread->held_signal);
}

static void leave_some(void *self, const struct session_process *process)
{
	const struct translated *translated = self;

	leave(&(const struct leaving){translated->translate, translated->session, process});
}

static void process_let_go(void *self, struct session_process *process)
{
	const struct translated *translated = self;

	leave_rest(&(const struct leaving){translated->translate, translated->session, process});
}

static void child_let_go(void *self, pid_t tid, pid_t parent)
{
	const struct translated *translated = self;

	(void)parent;
	translate_child_let_go(translated->translate, tid);
}

static bool owns(void *self, const struct session_process *process, const struct sideband_mapping *mapping)
{
	const struct translated *translated = self;

	return translate_owns(translated->translate, process->pid, mapping->addr);
}

static bool has_told(void *self, const struct session_process *process, const struct map *map)
{
	const struct translated *translated = self;

	return translate_has_told(translated->translate, process->pid, map);
}

static const struct session_driver translate_driver = {
	.thread_size = sizeof(struct translated_thread),
	.plug = plug,
	.thread_new = thread_new,
	.pass = pass,
	.owns = owns,
	.has_told = has_told,
	.event_stop = event_stop,
	.reached = reached,
	.take_over = take_over,
	.resume = resume,
	.executed = executed,
	.ended = ended,
	.leave = leave_some,
	.let_go = let_go,
	.process_let_go = process_let_go,
	.child_let_go = child_let_go,
};

/* ---- the source ---- */

/*
 * Also where they give nothing, as root's own do to root: nobody should have to know whose rights they are.
 */
static bool has_rights_of_its_own(const char *path)
{
	struct stat st;

	return launch_gains_rights(path) || (!stat(path, &st) && st.st_mode & (S_ISUID | S_ISGID));
}

static int check(const struct source_config *config)
{
	if (config->binary && has_rights_of_its_own(config->binary))
		return fail(-EINVAL, "--source translate does not record programs whose files give "
				     "rights (setuid, setgid, capabilities): use --source samples or none");
	return translate_check();
}

static int open_translate(void **ret_self, const struct source_config *config)
{
	const struct source_options *options = config->options;
	struct translate_config translate_config = {
		.trace_size = options->ring_size ? options->ring_size : TRACE_SIZE_DEFAULT,
		.times_calls = options->timing.resolution == PT_RESOLUTION_HIGH,
		.probes = config->probes,
		.gave_back = gave_back,
	};
	struct translated *translated;
	int err = check(config);

	if (err)
		return err;
	translated = calloc(1, sizeof(*translated));
	translate_config.ctx = translated;
	err = translated ? translate_new(&translated->translate, &translate_config) : -ENOMEM;
	if (err) {
		free(translated);
		return err;
	}
	if (options->timing.resolution != PT_RESOLUTION_NORMAL && !translate_config.times_calls)
		log_warn("--source translate has only --timer-resolution=normal and high: this is normal");
	translated->waits = config->waits_for_start;
	*ret_self = translated;
	return 0;
}

/* A program that `run` starts is met at its exec. */
static int add(void *self, pid_t pid, bool at_exec)
{
	const struct translated *translated = self;

	return at_exec || translated->waits ? 0 : translate_attach(translated->translate, pid);
}

static int start(void *self)
{
	const struct translated *translated = self;

	translate_resume(translated->translate);
	interrupt_next(translated);
	return 0;
}

/* Who cannot be stopped now is taken over some time. */
static bool is_ready(void *self)
{
	const struct translated *translated = self;
	const struct session_thread *thread;

	for (size_t i = 0; (thread = session_thread_at(translated->session, i)); i++)
		if (!thread->dead && !thread->group_stop &&
		    translate_wants(translated->translate, thread->process->pid, thread->tid) &&
		    !proc_is_unstoppable(thread->tid))
			return false;
	return true;
}

/* So often is looked whether the targets have memory enough. */
static int drain_ms(void *self)
{
	const struct translated *translated = self;

	return translate_is_limited(translated->translate) ? LOOK_MS : -1;
}

static bool is_over(void *self)
{
	struct translated *translated = self;
	uint64_t now = clock_kernel_ns();

	if (now - translated->looked_ns < LOOK_MS * 1000000ull)
		return translated->is_cramped;
	translated->looked_ns = now;
	translated->is_cramped = translated->is_cramped || translate_is_cramped(translated->translate);
	return translated->is_cramped;
}

static const struct probe_mirror *mirror(void *self)
{
	const struct translated *translated = self;

	return translate_mirror(translated->translate);
}

static void settle_hit(void *self, struct caught_hit *hit)
{
	const struct translated *translated = self;

	translate_settle_hit(translated->translate, hit);
}

static int newborn(void *self, pid_t pid, pid_t tid)
{
	const struct translated *translated = self;
	struct session_thread *thread;
	bool has_ended = false;
	int status, err = translated->waits
				  ? 0
				  : translate_born(translated->translate, pid, tid, &has_ended, &status);

	thread = has_ended ? session_find(translated->session, tid) : NULL;
	if (thread)
		session_on_end(translated->session, thread, status);
	return err;
}

static bool hold(void *self)
{
	const struct translated *translated = self;

	translate_hold(translated->translate);
	return true;
}

static int stop(void *self, int cpu)
{
	const struct translated *translated = self;

	(void)cpu;
	return translate_stop(translated->translate);
}

static int take(void *self, struct snapshot *snapshot)
{
	const struct translated *translated = self;

	return translated->err ? translated->err : translate_take(translated->translate, snapshot);
}

static int describe(void *self, struct snapshot *snapshot)
{
	const struct translated *translated = self;

	return translate_describe(translated->translate, snapshot);
}

static void close_translate(void *self)
{
	struct translated *translated = self;

	if (translated->given_back > GIVEN_BACK_SAID)
		log_warn("%zu more threads ran natively and are not recorded (-v names them)",
			 translated->given_back - GIVEN_BACK_SAID);
	translate_free(translated->translate);
	free(translated);
}

static bool is_here(void)
{
	return !translate_check() && room_is_there(getpid());
}

const struct source source_translate = {
	.name = "translate",
	.can = SOURCE_RUN_AUTO | SOURCE_PASSES_PROBES | SOURCE_FREEZES | SOURCE_TAKES_ON,
	.options = OPTION_START | OPTION_TIMING,
	.driver = &translate_driver,
	.is_here = is_here,
	.open = open_translate,
	.add = add,
	.start = start,
	.newborn = newborn,
	.is_ready = is_ready,
	.drain_ms = drain_ms,
	.is_over = is_over,
	.mirror = mirror,
	.settle_hit = settle_hit,
	.hold = hold,
	.stop = stop,
	.take = take,
	.describe = describe,
	.close = close_translate,
};
