/* SPDX-License-Identifier: BSD-2-Clause */
/* Single-stepping in the table of sources: a ring of packets for each thread. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "source/encoder_snapshot.h"
#include "source/step/step_internal.h"

static void close_step(void *self)
{
	struct step *step = self;

	fclosep(&step->log);
	free(step);
}

static int open_step(void **ret_self, const struct source_config *config)
{
	struct step *step = calloc(1, sizeof(*step));

	if (!step)
		return -ENOMEM;
	step->options = config->options;
	step->codes = config->codes;
	step->params = encoder_default_params();
	step_vdso_init(&step->vdso);
	*ret_self = step;
	return 0;
}

/* The trace ends where it is, and goes on from there. */
static int take(void *self, struct snapshot *snapshot)
{
	struct step *step = self;
	struct session_thread *base;
	int err = 0;

	for (size_t i = 0; !err && (base = session_thread_at(step->session, i)); i++) {
		struct step_thread *thread = (struct step_thread *)base;

		if (!base->dead && thread->encoder.enabled) {
			step_end_detour(step, thread);
			thread->paused = base->held;
			step_thread_interrupt(thread, session_now(step->session));
		}
		err = encoder_take(&thread->encoder, snapshot, base->process->pid, base->tid,
				   session_now(step->session));
	}
	return err;
}

/* The session says the rest. */
static int describe(void *self, struct snapshot *snapshot)
{
	const struct step *step = self;

	(void)snapshot;
	if (step->log && (fflush(step->log) || ferror(step->log)))
		return fail_errno(-errno, "cannot write the step log %s", step->options->step_log);
	return 0;
}

static uint64_t instruction_cnt(void *self)
{
	const struct step *step = self;
	const struct session_thread *thread;
	uint64_t cnt = step->past_instruction_cnt;

	for (size_t i = 0; (thread = session_thread_at(step->session, i)); i++)
		cnt += ((const struct step_thread *)thread)->instruction_cnt;
	return cnt;
}

const struct source source_step = {
	.name = "step",
	.can = SOURCE_HOLDS | SOURCE_SLOWS | SOURCE_RUN_AUTO,
	.options = OPTION_STEPPING | OPTION_START | OPTION_STALL,
	.driver = &step_driver,
	.open = open_step,
	.take = take,
	.describe = describe,
	.instruction_cnt = instruction_cnt,
	.close = close_step,
};
