/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translating in the table of sources, and as a driver of the session: the targets are never held for it but
 * in the stops that the session makes anyway.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/log.h"
#include "process/launch.h"
#include "session/driver.h"
#include "source/source.h"
#include "source/translate/translate.h"

enum { TRACE_SIZE_DEFAULT = 16 << 20 };

struct translated {
	struct translate *translate;
	struct session *session;
	int err; /* the first one of an event */
};

struct translated_thread {
	struct session_thread base;
	struct translated *translated;
};

static void note(struct translated *translated, int err)
{
	translated->err = translated->err ? translated->err : err;
}

static void gave_back(void *ctx, pid_t tid, const char *why)
{
	(void)ctx;
	log_warn("from here on thread %d runs natively and is not recorded: %s", (int)tid, why);
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

static void event_stop(void *self, struct session_thread *thread)
{
	const struct translated *translated = self;

	translate_event_stop(translated->translate, thread->tid);
}

static void ended(void *self, struct session_thread *thread)
{
	struct translated *translated = self;

	note(translated, translate_ended(translated->translate, thread->tid));
}

static void let_go(struct session_thread *thread)
{
	if (thread->held)
		translate_let_go(((struct translated_thread *)thread)->translated->translate, thread->tid);
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
	.executed = executed,
	.ended = ended,
	.let_go = let_go,
};

/* ---- the source ---- */

/* Also where they give nothing, as root's own do to root: nobody should have to know whose rights they are. */
static bool has_rights_of_its_own(const char *path)
{
	struct stat st;

	return launch_gains_rights(path) || (!stat(path, &st) && st.st_mode & (S_ISUID | S_ISGID));
}

static int check(const struct source_config *config)
{
	if (!config->binary)
		return fail(-EINVAL,
			    "--source translate records programs that trailcam starts (run); a process "
			    "that runs already is recorded by --source samples, or by step, which is "
			    "exact and slow");
	if (has_rights_of_its_own(config->binary))
		return fail(-EINVAL, "--source translate does not record programs whose files give "
				     "rights (setuid, setgid, capabilities): use --source samples or none");
	return translate_check();
}

static int open_translate(void **ret_self, const struct source_config *config)
{
	const struct source_options *options = config->options;
	const struct translate_config translate_config = {
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
	err = translated ? translate_new(&translated->translate, &translate_config) : -ENOMEM;
	if (err) {
		free(translated);
		return err;
	}
	*ret_self = translated;
	return 0;
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

	return translate_born(translated->translate, pid, tid);
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

	translate_free(translated->translate);
	free(translated);
}

const struct source source_translate = {
	.name = "translate",
	.can = SOURCE_PASSES_PROBES | SOURCE_FREEZES,
	.driver = &translate_driver,
	.open = open_translate,
	.newborn = newborn,
	.mirror = mirror,
	.settle_hit = settle_hit,
	.stop = stop,
	.take = take,
	.describe = describe,
	.close = close_translate,
};
