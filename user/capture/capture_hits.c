/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hits come from BPF, and from the session: signals and exits are triggers without probes. Their names follow
 * those of the triggers with probes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "capture/capture_internal.h"
#include "capture/goroutine.h"
#include "capture/interrupt.h"
#include "condition/prints.h"
#include "process/memory.h"

/* Held targets stop often. */
enum { DRAIN_EVERY = 256 };

/* See trigger_config.stop_at. */
uint64_t capture_stop_at(const struct capture_until *until)
{
	return until->multi_snapshot ? 0 : until->max_hits ? until->max_hits : 1;
}

/* A hit that cannot be stored ends the recording with that error. */
static void note(struct capture *capture, int err)
{
	if (err < 0 && !capture->err)
		capture->err = err;
}

/* ---- hits ---- */

static int add_hit(struct capture *capture, struct caught_hit *caught)
{
	struct hit *hit = &caught->hit;

	capture->hit_cnt++;
	if (hit->action & HIT_STOP)
		capture->hit = true;
	if (!capture->goids && !(capture->goids = calloc(capture->trigger_cnt + 1, sizeof(*capture->goids))))
		return -ENOMEM;
	if (hit->trigger < capture->trigger_cnt)
		hit->goroutine =
			goroutine_of(&capture->goids[hit->trigger], &capture->triggers[hit->trigger], caught);
	return hit_list_add(capture->snapshot->hits, caught);
}

/* The names of all triggers' values are in one array. */
static int add_values(struct capture *capture, const struct trigger_hit *hit)
{
	uint32_t trigger = hit->caught.hit.trigger;
	const struct prints *prints = capture->triggers[trigger].rule.prints;
	struct snapshot *snapshot = capture->snapshot;
	uint32_t name = 0;
	int err = 0;

	for (size_t i = 0; i < trigger; i++)
		name += capture->triggers[i].rule.prints
				? (uint32_t)prints_cnt(capture->triggers[i].rule.prints)
				: 0;
	for (size_t i = 0; prints && i < prints_cnt(prints) && !err; i++) {
		enum value_kind kind;
		char *text;

		err = prints_value(prints, i, &hit->caught, hit->values, &text, &kind);
		if (!err)
			err = snapshot_add_value(snapshot, (uint32_t)snapshot->hits->cnt - 1,
						 name + (uint32_t)i, kind, text);
	}
	return err;
}

/* The hit may be in a library that was loaded late. */
static void look_at_maps(struct capture *capture)
{
	int err = session_look_at_maps(capture->session);

	if (err)
		log_debug("%s", fail_message(err));
}

/* For all hits that are read in one turn. */
static void look_at_maps_once(struct capture *capture)
{
	if (!capture->has_looked)
		look_at_maps(capture);
	capture->has_looked = true;
}

/* What led to a hit that stops the sources should not be overwritten meanwhile. */
static void hold(struct capture *capture, const struct hit *hit)
{
	if (hit->action & HIT_STOP && sources_hold(&capture->sources) && !capture->held_ns)
		capture->held_ns = clock_kernel_ns();
}

static int take_hit(void *ctx, struct trigger_hit *hit)
{
	struct capture *capture = ctx;
	int err;

	if (hit->caught.hit.action & HIT_START) {
		capture->start_hit = true;
		return 0;
	}
	hold(capture, &hit->caught.hit);
	look_at_maps_once(capture);
	sources_settle_hit(&capture->sources, &hit->caught);
	hit_stacks_find(capture->stacks, &hit->caught, hit->copy, hit->copy_size, hit->is_entry);
	err = add_hit(capture, &hit->caught);
	return err ? err : add_values(capture, hit);
}

const char *capture_hit_function(const struct capture *capture, const struct hit *hit)
{
	const struct trigger *trigger = &capture->triggers[hit->trigger];
	uint64_t offset;

	if (hit->trigger >= capture->trigger_cnt || trigger->probe_cnt < 2 ||
	    !hit_stacks_offset(capture->stacks, hit, &offset))
		return NULL;
	for (size_t i = 0; i < trigger->probe_cnt; i++)
		if (trigger->probes[i].file_offset == offset)
			return trigger->probes[i].symbol;
	return NULL;
}

void capture_take_hits(struct capture *capture)
{
	if (!capture->set || capture->err || !trigger_set_pending(capture->set))
		return;
	capture->has_looked = false;
	note(capture, trigger_set_read(capture->set, take_hit, capture));
}

bool capture_stop_wanted(void *ctx)
{
	struct capture *capture = ctx;

	/* What could not be done at the exec has ended the run before this. */
	capture->has_run = capture->executed;
	capture_take_hits(capture);
	if (!capture_is_free_running(capture) && !(capture->drain_turn++ % DRAIN_EVERY))
		capture_drain(capture);
	return capture_is_over(capture) || capture->hit || capture->out_of_room || capture->err ||
	       interrupt_pending();
}

/* ---- triggers without probes ---- */

/* Adds the name of such a trigger after those with probes. */
static int add_event(struct capture *capture, const char *name, struct caught_hit *caught)
{
	struct snapshot *snapshot = capture->snapshot;
	uint64_t nth = capture->hit_cnt + 1, max = capture_stop_at(&capture->config->until);
	struct hit *hit = &caught->hit;

	for (hit->trigger = 0; hit->trigger < snapshot->trigger_cnt; hit->trigger++)
		if (hit->trigger >= capture->trigger_cnt && !strcmp(snapshot->triggers[hit->trigger], name))
			break;
	if (hit->trigger == snapshot->trigger_cnt &&
	    ARRAY_TAKE(snapshot->triggers, snapshot->trigger_cnt, snapshot->trigger_cap, strdup(name)))
		return -ENOMEM;
	hit->action = max && nth != max ? HIT_RECORD : HIT_STOP;
	hold(capture, hit);
	return add_hit(capture, caught);
}

void capture_signalled(void *ctx, int signal, struct caught_hit *hit)
{
	uint8_t copy[HIT_STACKS_BYTES];
	struct capture *capture = ctx;
	char name[32];
	size_t size;

	snprintf(name, sizeof(name), "SIG%s", sigabbrev_np(signal));
	capture_take_hits(capture);
	look_at_maps(capture);
	/* The stack may end before. */
	size = memory_read((pid_t)hit->hit.tid, hit->regs[HIT_SP], copy, sizeof(copy));
	hit_stacks_find(capture->stacks, hit, copy, size, false);
	note(capture, add_event(capture, name, hit));
}

/* A target's end as a trigger. The target is gone, so the hit has no registers. */
void capture_ended(void *ctx, pid_t pid, int wait_status)
{
	struct capture *capture = ctx;
	struct caught_hit event = {.hit = {.pid = (uint32_t)pid, .tid = (uint32_t)pid, .stack_cnt = 1}};
	char name[32];

	note(capture, code_stores_end(capture->codes, pid));
	capture_take_hits(capture);
	if (capture->watching)
		trigger_set_unwatch(capture->set, pid);
	sources_drop(&capture->sources, pid);
	if (pid == capture->launch.pid) {
		/* Its children may run on for long. */
		capture->target_gone = true;
		capture->wait_status = wait_status;
		interrupt_target_gone();
	}
	if (!WIFEXITED(wait_status) || !capture->config->until.statuses[WEXITSTATUS(wait_status)])
		return;
	event.hit.time_ns = event.hit.begin_ns = clock_kernel_ns();
	snprintf(name, sizeof(name), "exit %d", WEXITSTATUS(wait_status));
	note(capture, add_event(capture, name, &event));
}

bool capture_start_wanted(void *ctx)
{
	struct capture *capture = ctx;

	capture_take_hits(capture);
	return capture->start_hit;
}
