/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One pass over a thread's slices with those open at hand: when a slice ends, its time counts for its
 * function and its path, and is no longer its caller's own.
 *
 * A gap that takes no time, as between two snapshots, cuts the calls that are open there in two: the second
 * part counts as time, not as another call.
 */
#include "timeline/profile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"
#include "base/spill.h"

enum { RECENT = 1 << 12 };

struct profiler {
	struct profile profile; /* first: what the caller sees */
	bool by_object;
	uint32_t *active; /* for each function, how many calls of it are open */
	size_t active_cnt, active_cap;
	struct hash_index functions, paths;
	struct recent {
		const struct symbol *symbol;
		size_t function;
	} recent[RECENT]; /* functions by symbol, which spares a look at the name */
};

struct open_slice {
	const struct slice *slice;
	size_t path;
	uint64_t called_ns;  /* in what it called */
	uint64_t sampled_ns; /* of that, what is known from samples */
	bool is_rest;	     /* of a call that was counted before */
};

struct open_slices {
	struct open_slice *items;
	size_t cnt, cap;
	/* Functions of the slices that ended at `ended_ns`, the last end so far; each may go on once. */
	size_t *ended;
	size_t ended_cnt, ended_cap;
	uint64_t ended_ns;
	size_t rest_cnt;
};

int profile_new(struct profile **ret_profile, bool by_object)
{
	struct profiler *profiler = calloc(1, sizeof(*profiler));
	struct profile *profile = profiler ? &profiler->profile : NULL;
	struct profile_path root = {0};

	if (!profile || ARRAY_PUSH(profile->paths, profile->path_cnt, profile->path_cap, root)) {
		free(profiler);
		return -ENOMEM;
	}
	profiler->by_object = by_object;
	*ret_profile = profile;
	return 0;
}

void profile_free(struct profile *profile)
{
	struct profiler *profiler = (struct profiler *)profile;

	if (!profiler)
		return;
	free(profile->functions);
	free(profile->paths);
	free(profiler->active);
	hash_index_release(&profiler->functions);
	hash_index_release(&profiler->paths);
	free(profiler);
}

/* ---- functions and paths ---- */

static int add_function(struct profiler *profiler, const struct profile_function *function, uint64_t hash)
{
	struct profile *profile = &profiler->profile;
	int err = ARRAY_PUSH(profiler->active, profiler->active_cnt, profiler->active_cap, 0);

	if (!err)
		err = hash_index_add(&profiler->functions, hash, profile->function_cnt);
	if (!err)
		err = ARRAY_PUSH(profile->functions, profile->function_cnt, profile->function_cap, *function);
	return err;
}

static int find_function(struct profiler *profiler, const struct slice *slice, size_t *ret_index)
{
	struct profile *profile = &profiler->profile;
	const struct symbol *symbol = slice->symbol;
	struct profile_function wanted = {
		.name = slice_name(slice), .object = symbol ? symbol->object : "", .kind = slice->kind};
	uint64_t hash = hash_text(hash_number(0, wanted.kind), wanted.name);

	if (profiler->by_object)
		hash = hash_text(hash, wanted.object);
	for (size_t at = 0, i; (i = hash_index_next(&profiler->functions, hash, &at)) != HASH_INDEX_END;) {
		const struct profile_function *function = &profile->functions[i];

		if (function->kind != wanted.kind || strcmp(function->name, wanted.name) ||
		    (profiler->by_object && strcmp(function->object, wanted.object)))
			continue;
		*ret_index = i;
		return 0;
	}
	*ret_index = profile->function_cnt;
	return add_function(profiler, &wanted, hash);
}

static int function_of(struct profiler *profiler, const struct slice *slice, size_t *ret_index)
{
	uintptr_t key = (uintptr_t)slice->symbol;
	struct recent *recent = &profiler->recent[(key >> 4 ^ key >> 16) % RECENT];
	int err;

	if (!slice->symbol)
		return find_function(profiler, slice, ret_index);
	if (recent->symbol != slice->symbol) {
		err = find_function(profiler, slice, ret_index);
		if (err)
			return err;
		*recent = (struct recent){slice->symbol, *ret_index};
	}
	*ret_index = recent->function;
	return 0;
}

static int path_of(struct profiler *profiler, size_t parent, size_t function, size_t *ret_index)
{
	struct profile *profile = &profiler->profile;
	struct profile_path fresh = {
		.function = function, .parent = parent, .depth = profile->paths[parent].depth + 1};
	uint64_t hash = hash_number(hash_number(0, parent), function);
	int err;

	for (size_t at = 0, i; (i = hash_index_next(&profiler->paths, hash, &at)) != HASH_INDEX_END;) {
		if (profile->paths[i].parent != parent || profile->paths[i].function != function)
			continue;
		*ret_index = i;
		return 0;
	}
	*ret_index = profile->path_cnt;
	err = hash_index_add(&profiler->paths, hash, profile->path_cnt);
	return err ? err : ARRAY_PUSH(profile->paths, profile->path_cnt, profile->path_cap, fresh);
}

/* ---- slices ---- */

static void add_to(struct profile_sum *sum, const struct profile_sum *more)
{
	sum->calls += more->calls;
	sum->self_ns += more->self_ns;
	sum->total_ns += more->total_ns;
	sum->sampled_self_ns += more->sampled_self_ns;
	sum->sampled_total_ns += more->sampled_total_ns;
}

/* What the slice took; pauses are exact, and in holes there was no sample. */
static struct profile_sum sum_of(const struct open_slice *open)
{
	const struct slice *slice = open->slice;
	bool is_sampled = slice->flags & SLICE_SAMPLED && slice->kind == SLICE_CALL;
	struct profile_sum sum = {.calls = !open->is_rest, .total_ns = slice->end_ns - slice->start_ns};

	sum.self_ns = sum.total_ns - open->called_ns;
	sum.sampled_self_ns = is_sampled ? sum.self_ns : 0;
	sum.sampled_total_ns = sum.sampled_self_ns + open->sampled_ns;
	return sum;
}

static int note_end(struct open_slices *open, const struct slice *slice, size_t function)
{
	if (slice->end_ns != open->ended_ns)
		open->ended_cnt = 0;
	open->ended_ns = slice->end_ns;
	return ARRAY_PUSH(open->ended, open->ended_cnt, open->ended_cap, function);
}

static bool take_rest(struct open_slices *open, const struct slice *slice, size_t function)
{
	if (!(slice->flags & SLICE_INFERRED_START) || slice->start_ns != open->ended_ns)
		return false;
	for (size_t i = 0; i < open->ended_cnt; i++) {
		if (open->ended[i] != function)
			continue;
		open->ended[i] = open->ended[--open->ended_cnt];
		open->rest_cnt++;
		return true;
	}
	return false;
}

static int close_slices(struct profiler *profiler, size_t side, struct open_slices *open, size_t keep)
{
	struct profile *profile = &profiler->profile;
	int err = 0;

	while (open->cnt > keep) {
		struct open_slice *last = &open->items[--open->cnt];
		struct profile_path *path = &profile->paths[last->path];
		struct profile_sum *root = &profile->paths[PROFILE_ROOT].sides[side];
		struct profile_sum sum = sum_of(last), own = sum;

		if (--profiler->active[path->function])
			own.total_ns = own.sampled_total_ns = 0;
		add_to(&path->sides[side], &sum);
		add_to(&profile->functions[path->function].sides[side], &own);
		if (!err)
			err = note_end(open, last->slice, path->function);
		if (open->cnt) {
			open->items[open->cnt - 1].called_ns += sum.total_ns;
			open->items[open->cnt - 1].sampled_ns += sum.sampled_total_ns;
		} else {
			root->total_ns += sum.total_ns;
			root->sampled_total_ns += sum.sampled_total_ns;
		}
	}
	return err;
}

static int open_slice(struct profiler *profiler, struct open_slices *open, const struct slice *slice)
{
	struct open_slice fresh = {.slice = slice};
	size_t parent = open->cnt ? open->items[open->cnt - 1].path : PROFILE_ROOT, function;
	int err = function_of(profiler, slice, &function);

	if (!err)
		err = path_of(profiler, parent, function, &fresh.path);
	if (!err)
		fresh.is_rest = take_rest(open, slice, function);
	if (!err)
		err = ARRAY_PUSH(open->items, open->cnt, open->cap, fresh);
	if (!err)
		profiler->active[function]++;
	return err;
}

int profile_add(struct profile *profile, size_t side, const struct timeline_thread *thread)
{
	struct profiler *profiler = (struct profiler *)profile;
	struct open_slices open = {0};
	int err = 0;

	for (size_t i = 0; i < thread->slice_cnt && !err; i++) {
		SPILL_PASS(thread->slices, i);
		err = close_slices(profiler, side, &open, thread->slices[i].depth);
		if (!err)
			err = open_slice(profiler, &open, &thread->slices[i]);
	}
	if (!err)
		err = close_slices(profiler, side, &open, 0);
	profile->paths[PROFILE_ROOT].sides[side].calls += thread->slice_cnt - open.rest_cnt;
	free(open.items);
	free(open.ended);
	return err;
}
