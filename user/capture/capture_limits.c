/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time limits: how long the recording may last, and how long it may hold the targets. A timer interrupts the
 * waits for the targets, so that the clock is checked.
 */
#include "base/clock.h"
#include "capture/capture_internal.h"
#include "capture/interrupt.h"

enum { TICK_NS = 100000000 };

void capture_begin_limits(struct capture *capture)
{
	const struct capture_config *config = capture->config;

	capture->began_ns = capture->told_ns = clock_kernel_ns();
	if (config->duration_ns || config->progress)
		interrupt_waits(config->duration_ns && config->duration_ns < TICK_NS ? config->duration_ns
										     : TICK_NS);
}

void capture_end_limits(void)
{
	interrupt_waits(0);
}

static void tell_progress(struct capture *capture, uint64_t now)
{
	const struct capture_config *config = capture->config;
	struct capture_progress progress = {
		.elapsed_ns = now - capture->began_ns,
		.instructions = sources_instruction_cnt(&capture->sources),
		.hits = capture->hit_cnt,
		.waits_for_start = config->start.spec && !session_started(capture->session),
	};

	capture->told_ns = now;
	config->progress(config->progress_ctx, &progress);
}

bool capture_is_over(struct capture *capture)
{
	const struct capture_config *config = capture->config;
	uint64_t now = clock_kernel_ns();

	if (config->progress && now - capture->told_ns >= TICK_NS)
		tell_progress(capture, now);
	capture->timed_out = config->duration_ns && now - capture->began_ns >= config->duration_ns;
	/* They are held until the last is let go. */
	capture->stalled = config->max_stall_ns &&
			   session_stalled_ns(capture->session) + session_let_go_ns(capture->session) >=
				   config->max_stall_ns;
	capture->cramped = sources_are_over(&capture->sources);
	return capture->timed_out || capture->stalled || capture->cramped;
}

int capture_patience_ms(const struct capture *capture)
{
	const struct capture_config *config = capture->config;
	uint64_t passed = clock_kernel_ns() - capture->began_ns;

	if (!config->duration_ns && !config->progress)
		return -1;
	if (config->duration_ns && passed >= config->duration_ns)
		return 0;
	if (config->duration_ns && config->duration_ns - passed < TICK_NS)
		return (int)((config->duration_ns - passed) / 1000000) + 1;
	return TICK_NS / 1000000;
}
