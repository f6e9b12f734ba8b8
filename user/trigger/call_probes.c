/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function may end in a tail call, a jump to another function instead of a return:
 *
 *	f:	...			g:	...
 *		jmp  g				ret		returns to who called f
 *
 * The call of f lasts until g returns, so g's returns are probed for f, too. So is g's beginning: if others
 * call g at the same stack address, a stored call of f there must have ended by an exception. If the jump's
 * target is known only at run time, or is in another file, the call counts as over at the jump.
 */
#include "trigger/call_probes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "bpf/rule.h"
#include "elf/elf_file.h"
#include "probe/args/arg_layout.h"
#include "probe/boundary.h"
#include "probe/exits/exits.h"
#include "probe/probe.h"

enum { FOLLOWED_MAX = 32 };

/* A function whose ends are probed. */
struct ender {
	uint64_t start, entry; /* its beginning, and where the probe is that sees it */
	const char *name;
	const struct arg_layout *layout;
	uint32_t place; /* PLACE_OTHER and PLACE_GO */
	struct exits exits;
};

/* The functions of one file. */
struct plan {
	struct trigger *trigger;
	struct elf_file *file;
	struct ender *enders;
	size_t cnt, cap;
	size_t followed_cnt;
	bool any_shared;
	size_t leaving_cnt; /* jumps to where nothing is probed, and what is said of the first */
	char leaving[256];
};

static void plan_release(struct plan *plan)
{
	for (size_t i = 0; i < plan->cnt; i++)
		exits_release(&plan->enders[i].exits);
	free(plan->enders);
	elf_file_close(plan->file);
}

/* ---- functions ---- */

static struct ender *find_ender(const struct plan *plan, uint64_t start)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->enders[i].start == start)
			return &plan->enders[i];
	return NULL;
}

/* Jumps within the function itself are no way out. */
static bool comes_back(const struct ender *ender)
{
	for (size_t i = 0; i < ender->exits.cnt; i++)
		if (ender->exits.items[i].target != ender->start)
			return true;
	return false;
}

/* -ENOTSUP and -EINVAL as call_probes_add(). */
static int find_exits(const struct plan *plan, struct ender *ender)
{
	int err = exits_find(plan->file, ender->start, &ender->exits);
	const struct exit *first = ender->exits.items;

	if (err)
		return err;
	if (!comes_back(ender))
		return fail(-EINVAL,
			    "--slower-than, ret and elapsed need a call's return, but %s in %s has no "
			    "return instruction: name its caller",
			    ender->name, elf_file_path(plan->file));
	if (first->addr == ender->entry && !first->target)
		return fail(-ENOTSUP, "%s in %s %s at once, so there is no call to measure: name its caller",
			    ender->name, elf_file_path(plan->file),
			    first->kind == EXIT_RETURN ? "returns" : "jumps to where a pointer says");
	return 0;
}

static int add_ender(struct plan *plan, struct ender *ender)
{
	int err = find_exits(plan, ender);

	if (!err)
		err = ARRAY_PUSH(plan->enders, plan->cnt, plan->cap, *ender);
	if (err)
		exits_release(&ender->exits);
	return err;
}

static int add_own(struct plan *plan, const struct probe *probe)
{
	struct ender ender = {
		.start = probe->addr,
		.entry = probe->addr,
		.name = probe->symbol,
		.layout = probe->layout,
		.place = probe->layout->convention == ARGS_GO ? PLACE_GO : 0,
	};

	boundary_function_start(plan->file, probe->addr, &ender.start);
	return add_ender(plan, &ender);
}

/* The function that is jumped to is probed, too. NULL: it is not. */
static struct ender *follow(struct plan *plan, uint64_t target)
{
	const struct elf_symbol *symbol = elf_file_symbol_at(plan->file, target);
	struct ender *known = find_ender(plan, target), ender;

	if (known || !target || plan->followed_cnt == FOLLOWED_MAX || (symbol && symbol->is_plt))
		return known;
	ender = (struct ender){
		.start = target,
		.entry = boundary_best_entry(plan->file, target),
		.name = symbol ? symbol->name : "a function",
		.place = PLACE_OTHER,
		.layout = arg_layout_within(),
	};
	if (symbol && symbol->addr == target)
		ender.layout = arg_layout_of_function(plan->file, symbol);
	ender.place |= ender.layout->convention == ARGS_GO ? PLACE_GO : 0;
	if (add_ender(plan, &ender))
		return NULL;
	plan->followed_cnt++;
	return &plan->enders[plan->cnt - 1];
}

/* ---- probes ---- */

static int add_probe(struct plan *plan, const struct ender *ender, uint64_t addr, struct probe *ret_probe)
{
	char name[1024];

	snprintf(name, sizeof(name), addr == ender->entry ? "%s" : "%s+0x%llx", ender->name,
		 (unsigned long long)(addr - ender->start));
	return probe_init(ret_probe, plan->file, addr, name);
}

static int push_probe(struct plan *plan, struct probe *probe)
{
	struct trigger *trigger = plan->trigger;

	if (!ARRAY_PUSH(trigger->probes, trigger->probe_cnt, trigger->probe_cap, *probe))
		return 0;
	probe_release(probe);
	return -ENOMEM;
}

static bool is_of_file(const struct plan *plan, const struct probe *probe)
{
	return !strcmp(probe->path, elf_file_path(plan->file));
}

/* Where two functions have a return instruction in common: it is then each one's own. */
static bool is_probed(struct plan *plan, uint64_t addr, uint32_t place)
{
	struct trigger *trigger = plan->trigger;

	for (size_t i = 0; plan->any_shared && i < trigger->probe_cnt; i++) {
		struct probe *probe = &trigger->probes[i];

		if (probe->at != PROBE_CALL_END || probe->addr != addr || !is_of_file(plan, probe))
			continue;
		probe->place &= place | ~(uint32_t)PLACE_OTHER;
		return true;
	}
	return false;
}

static void note_leaving(struct plan *plan, const struct ender *ender, const struct exit *exit)
{
	const struct elf_symbol *symbol = exit->target ? elf_file_symbol_at(plan->file, exit->target) : NULL;

	if (!plan->leaving_cnt++)
		snprintf(plan->leaving, sizeof(plan->leaving), "%s (to %s)", ender->name,
			 symbol ? symbol->name : "where a pointer says");
}

static uint32_t place_of(struct plan *plan, size_t i, const struct exit *exit)
{
	uint32_t place = plan->enders[i].place | (exit->is_shared ? PLACE_OTHER : 0);

	if (exit->kind == EXIT_RETURN)
		return place;
	place |= PLACE_JUMP;
	if (exit->condition != EXIT_ALWAYS)
		place |= PLACE_CONDITIONAL | (uint32_t)exit->condition << PLACE_CONDITION_SHIFT;
	if (follow(plan, exit->target))
		return place;
	note_leaving(plan, &plan->enders[i], exit);
	return place | PLACE_LEAVES;
}

/*
 * The breakpoint of a function that begins with its jump out is there already: what sees the call begin says
 * that it goes on.
 */
static bool begins_with(struct plan *plan, const struct ender *ender, const struct exit *exit)
{
	struct trigger *trigger = plan->trigger;

	for (size_t i = 0; exit->addr == ender->entry && i < trigger->probe_cnt; i++) {
		if (trigger->probes[i].addr != exit->addr || trigger->probes[i].at != PROBE_CALL_BEGIN ||
		    !is_of_file(plan, &trigger->probes[i]))
			continue;
		trigger->probes[i].place |= PLACE_JUMP;
		return true;
	}
	return false;
}

static int add_exit(struct plan *plan, size_t i, const struct exit *exit)
{
	uint32_t place = place_of(plan, i, exit);
	const struct ender *ender = &plan->enders[i];
	struct probe probe;
	int err;

	plan->any_shared |= exit->is_shared;
	if (begins_with(plan, ender, exit) || is_probed(plan, exit->addr, place))
		return 0;
	err = add_probe(plan, ender, exit->addr, &probe);
	if (err)
		return err;
	probe.at = PROBE_CALL_END;
	probe.place = place;
	probe.layout = ender->layout;
	return push_probe(plan, &probe);
}

/* Of a function that calls go on in. */
static int add_entry(struct plan *plan, const struct ender *ender)
{
	struct probe probe;
	int err = add_probe(plan, ender, ender->entry, &probe);

	if (err)
		return err;
	probe.at = PROBE_CALL_BEGIN;
	probe.place = ender->place;
	probe.layout = ender->layout;
	return push_probe(plan, &probe);
}

/* More of them are found on the way. */
static int add_ends(struct plan *plan)
{
	int err = 0;

	for (size_t i = 0; i < plan->cnt && !err; i++) {
		if (plan->enders[i].place & PLACE_OTHER)
			err = add_entry(plan, &plan->enders[i]);
		for (size_t j = 0; j < plan->enders[i].exits.cnt && !err; j++) {
			const struct exit exit = plan->enders[i].exits.items[j];

			err = add_exit(plan, i, &exit);
		}
	}
	return err;
}

static void tell(const struct plan *plan)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->enders[i].place & PLACE_OTHER)
			log_debug("calls of %s may end in %s, which is probed, too", plan->trigger->name,
				  plan->enders[i].name);
	if (plan->leaving_cnt)
		log_warn("%s: a call counts as over at a tail call that trailcam cannot follow: %s%s",
			 plan->trigger->name, plan->leaving, plan->leaving_cnt > 1 ? " and others" : "");
}

/*
 * The probes from `first` to `end` are of one file. Functions that cannot be probed at their ends lose their
 * probe, but for the last that is left.
 */
static int add_for_file(struct trigger *trigger, size_t first, size_t *end, bool *ret_any)
{
	CLEANUP(plan_release) struct plan plan = {.trigger = trigger};
	int err = elf_file_open(&plan.file, trigger->probes[first].path);

	for (size_t i = first; i < *end && !err; i++) {
		err = add_own(&plan, &trigger->probes[i]);
		trigger->probes[i].at = PROBE_CALL_BEGIN;
		if (!err)
			trigger->probes[i].place = plan.enders[plan.cnt - 1].place;
		if ((err != -ENOTSUP && err != -EINVAL) || (*end - first == 1 && !*ret_any))
			continue;
		probe_release(&trigger->probes[i]);
		memmove(&trigger->probes[i], &trigger->probes[i + 1],
			(--trigger->probe_cnt - i) * sizeof(*trigger->probes));
		(*end)--;
		i--;
		err = 0;
	}
	if (!err)
		err = add_ends(&plan);
	if (!err)
		tell(&plan);
	*ret_any |= plan.cnt;
	return err;
}

int call_probes_add(struct trigger *trigger)
{
	size_t cnt = trigger->probe_cnt, end;
	bool any = false;
	int err = 0;

	for (size_t first = 0; first < cnt && !err; first = end) {
		size_t before, left;

		for (end = first;
		     end < cnt && !strcmp(trigger->probes[end].path, trigger->probes[first].path);)
			end++;
		before = end;
		err = add_for_file(trigger, first, &end, &any);
		left = before - end;
		cnt -= left;
	}
	return err;
}
