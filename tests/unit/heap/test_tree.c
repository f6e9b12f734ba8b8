/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees and hotspots of random traces beside sums that are made sample by sample, of stacks written out as
 * text.
 */
#include "random_traces.h"

#include "heap/hotspots.h"

enum { SEEDS = 20, FRAMES_MAX = 2 * DEPTH + 1, TEXT = 32 };

/* A stack as the tree is to have it: "f (a.ml:3)" and the like. */
struct stack {
	char frames[FRAMES_MAX][TEXT];
	size_t cnt;
};

static void name_place(char *text, enum memtrace_detail detail, const char *function, const char *file,
		       uint32_t line)
{
	snprintf(text, TEXT, "%s (%s:%u)", function, detail == MEMTRACE_BY_NAME ? "" : file,
		 detail == MEMTRACE_BY_LINE ? line : 0);
}

static void write_out(struct stack *stack, const struct memtrace_event *event,
		      const struct memtrace_tree_config *config)
{
	stack->cnt = 0;
	for (size_t i = 0; i < event->frame_cnt; i++) {
		const struct memtrace_location *places;
		int cnt = place_of(NULL, event->frames[i], &places);

		for (int j = 0; j < cnt; j++) {
			bool is_there = false;

			name_place(stack->frames[stack->cnt], config->detail, places[j].function,
				   places[j].file, places[j].line);
			for (size_t k = 0; k < stack->cnt; k++)
				is_there |= !strcmp(stack->frames[k], stack->frames[stack->cnt]);
			stack->cnt += !(is_there && config->no_recursion);
		}
	}
	if (!stack->cnt)
		name_place(stack->frames[stack->cnt++], config->detail, "[unknown]", "", 0);
}

struct slow {
	struct stack stacks[EVENTS];
	bool is_alive_at_peak[EVENTS];
};

static void sum_up(struct memtrace_weight *sum, const struct made *made, const struct slow *slow, size_t i)
{
	uint64_t nsamples = made->events[i].nsamples;

	sum->allocations++;
	sum->allocated += nsamples;
	sum->live += made->end[i] == ALIVE ? nsamples : 0;
	sum->peak += slow->is_alive_at_peak[i] ? nsamples : 0;
}

static void find_peak(const struct made *made, struct slow *slow)
{
	uint64_t most = 0, live;

	for (size_t at = 0; at < EVENTS; at++) {
		live = 0;
		for (size_t i = 0; i <= at; i++)
			if (made->events[i].kind == MEMTRACE_ALLOC &&
			    (made->end[i] == ALIVE || made->end[i] > at))
				live += made->events[i].nsamples;
		if (live <= most)
			continue;
		most = live;
		for (size_t i = 0; i < EVENTS; i++)
			slow->is_alive_at_peak[i] = made->events[i].kind == MEMTRACE_ALLOC && i <= at &&
						    (made->end[i] == ALIVE || made->end[i] > at);
	}
}

static void check_weight(const struct memtrace_weight *got, const struct memtrace_weight *wanted)
{
	assert_int_equal(got->allocations, wanted->allocations);
	assert_int_equal(got->allocated, wanted->allocated);
	assert_int_equal(got->live, wanted->live);
	assert_int_equal(got->peak, wanted->peak);
}

static bool has(const struct stack *stack, const char *frame)
{
	for (size_t i = 0; i < stack->cnt; i++)
		if (!strcmp(stack->frames[i], frame))
			return true;
	return false;
}

static void check_frames(const struct memtrace_tree *tree, const struct made *made, const struct slow *slow,
			 enum memtrace_detail detail)
{
	for (size_t f = 0; f < tree->frame_cnt; f++) {
		const struct memtrace_frame *frame = &tree->frames[f];
		struct memtrace_weight self = {0}, total = {0};
		char text[TEXT];

		name_place(text, detail, frame->function, frame->file, frame->line);
		for (size_t i = 0; i < EVENTS; i++) {
			const struct stack *stack = &slow->stacks[i];

			if (made->events[i].kind != MEMTRACE_ALLOC || !has(stack, text))
				continue;
			sum_up(&total, made, slow, i);
			if (!strcmp(stack->frames[stack->cnt - 1], text))
				sum_up(&self, made, slow, i);
		}
		check_weight(&frame->self, &self);
		check_weight(&frame->total, &total);
	}
}

/* The path as text, outermost first. */
static size_t path_text(const struct memtrace_tree *tree, uint32_t path, enum memtrace_detail detail,
			char frames[][TEXT])
{
	uint32_t numbers[FRAMES_MAX];

	memtrace_tree_frames(tree, path, numbers);
	for (size_t i = 0; i < tree->paths[path].depth; i++) {
		const struct memtrace_frame *frame = &tree->frames[numbers[i]];

		name_place(frames[i], detail, frame->function, frame->file, frame->line);
	}
	return tree->paths[path].depth;
}

static void check_paths(const struct memtrace_tree *tree, const struct made *made, const struct slow *slow,
			enum memtrace_detail detail)
{
	for (uint32_t p = 0; p < tree->path_cnt; p++) {
		struct memtrace_weight self = {0}, total = {0};
		char frames[FRAMES_MAX][TEXT];
		size_t cnt = path_text(tree, p, detail, frames);

		for (size_t i = 0; i < EVENTS; i++) {
			const struct stack *stack = &slow->stacks[i];
			size_t same = 0;

			while (same < cnt && same < stack->cnt && !strcmp(frames[same], stack->frames[same]))
				same++;
			if (made->events[i].kind != MEMTRACE_ALLOC || same < cnt)
				continue;
			sum_up(&total, made, slow, i);
			if (stack->cnt == cnt)
				sum_up(&self, made, slow, i);
		}
		check_weight(&tree->paths[p].self, &self);
		check_weight(&tree->paths[p].total, &total);
		assert_true(total.allocations > 0);
	}
}

static int compare_paths(const struct memtrace_tree *tree, uint32_t left, uint32_t right)
{
	const struct memtrace_frame *a = &tree->frames[tree->paths[left].frame],
				    *b = &tree->frames[tree->paths[right].frame];
	int order = strcmp(a->function, b->function);

	order = order ? order : strcmp(a->file, b->file);
	return order ? order : (int)a->line - (int)b->line;
}

static void check_order(const struct memtrace_tree *tree)
{
	assert_int_equal(tree->paths[0].depth, 0);
	assert_int_equal(tree->paths[0].end, tree->path_cnt);
	for (uint32_t p = 0; p < tree->path_cnt; p++) {
		const struct memtrace_path *path = &tree->paths[p];

		for (uint32_t callee = p + 1; callee < path->end; callee = tree->paths[callee].end) {
			uint32_t next = tree->paths[callee].end;

			assert_int_equal(tree->paths[callee].parent, p);
			assert_int_equal(tree->paths[callee].depth, path->depth + 1);
			assert_true(next <= path->end);
			if (next < path->end)
				assert_true(compare_paths(tree, callee, next) < 0);
		}
	}
}

/* ---- hotspots ---- */

static uint64_t rank_of(const struct memtrace_frame *frame, bool by_total)
{
	return by_total ? frame->total.allocated : frame->self.allocated;
}

/* From the greatest on, and as many above the last row as there are rows before it. */
static void check_hot_frames(const struct memtrace_tree *tree, size_t top, bool by_total)
{
	uint64_t last = UINT64_MAX;
	size_t cnt, left_out, wanted = 0, above = 0;
	uint32_t *frames;

	assert_ok(memtrace_hot_frames(tree, top, by_total, &frames, &cnt, &left_out));
	for (size_t i = 0; i < cnt; i++) {
		assert_true(rank_of(&tree->frames[frames[i]], by_total) <= last);
		last = rank_of(&tree->frames[frames[i]], by_total);
	}
	for (size_t i = 0; i < tree->frame_cnt; i++) {
		wanted += rank_of(&tree->frames[i], by_total) > 0;
		above += rank_of(&tree->frames[i], by_total) > last;
	}
	assert_int_equal(cnt + left_out, wanted);
	assert_int_equal(cnt, wanted < top ? wanted : top);
	assert_true(!cnt || above < cnt);
	free(frames);
}

/* Rows are a tree, callers first, siblings from the greatest on; each holds what its callers had left. */
static void check_hot_paths(const struct memtrace_tree *tree, size_t top)
{
	struct memtrace_row *rows;
	size_t cnt, left_out;

	assert_ok(memtrace_hot_paths(tree, top, &rows, &cnt, &left_out));
	assert_true(cnt <= top && (!left_out || cnt == top));
	for (size_t i = 0; i < cnt; i++) {
		const struct memtrace_path *path = &tree->paths[rows[i].path];
		uint32_t caller = rows[i].path;
		size_t above = i;

		for (uint32_t call = 0; call < rows[i].calls; call++) {
			assert_int_equal(tree->paths[caller].total.allocated, path->total.allocated);
			caller = tree->paths[caller].parent;
		}
		while (above-- > 0 && rows[above].level >= rows[i].level)
			if (rows[above].level == rows[i].level)
				assert_true(tree->paths[rows[above].path].total.allocated >=
					    path->total.allocated);
		assert_int_equal(caller, rows[i].level ? rows[above].path : 0);
	}
	free(rows);
}

TEST(test_random)
{
	for (unsigned int seed = 0; seed < SEEDS; seed++) {
		const struct memtrace_tree_config config = {.detail = seed % 3, .no_recursion = seed / 3 % 2};
		struct memtrace_tree *tree;
		struct memtrace *trace;
		struct slow slow = {0};
		struct made made;

		make_trace(&made, 200 + seed);
		find_peak(&made, &slow);
		for (size_t i = 0; i < EVENTS; i++)
			write_out(&slow.stacks[i], &made.events[i], &config);
		assert_ok(memtrace_load(&trace, made.path, NULL));
		assert_ok(memtrace_tree_new(&tree, trace, &config));
		check_order(tree);
		check_frames(tree, &made, &slow, config.detail);
		check_paths(tree, &made, &slow, config.detail);
		for (size_t top = 0; top < 300; top = 3 * top + 1) {
			check_hot_frames(tree, top, top % 2);
			check_hot_paths(tree, top);
		}
		memtrace_tree_free(tree);
		memtrace_free(trace);
		unlink(made.path);
	}
}

/* ---- by hand ---- */

TEST(test_nothing)
{
	struct memtrace_stack root = {0};
	struct memtrace trace = {.stacks = &root, .stack_cnt = 1};
	struct memtrace_sample sample = {.nsamples = 3, .end_us = MEMTRACE_NEVER};
	struct memtrace_tree *tree;

	assert_ok(memtrace_tree_new(&tree, &trace, &(struct memtrace_tree_config){0}));
	assert_int_equal(tree->path_cnt, 1);
	check_hot_paths(tree, 10);
	check_hot_frames(tree, 10, false);
	memtrace_tree_free(tree);

	trace.samples = &sample;
	trace.sample_cnt = 1;
	assert_ok(memtrace_tree_new(&tree, &trace, &(struct memtrace_tree_config){0}));
	assert_int_equal(tree->path_cnt, 2);
	assert_string_equal(tree->frames[tree->paths[1].frame].function, "[unknown]");
	assert_int_equal(tree->paths[1].self.live, 3);
	memtrace_tree_free(tree);
}

/* A row goes on as long as what is called has all of it: 0 > 1 > 2, then 3 and 4. */
TEST(test_rows)
{
	struct memtrace_path paths[] = {
		{.end = 6, .total.allocated = 10},
		{.parent = 0, .end = 5, .depth = 1, .total.allocated = 9},
		{.parent = 1, .end = 5, .depth = 2, .total.allocated = 9},
		{.parent = 2, .end = 4, .depth = 3, .total.allocated = 3},
		{.parent = 2, .end = 5, .depth = 3, .total.allocated = 6},
		{.parent = 0, .end = 6, .depth = 1, .total.allocated = 1},
	};
	const struct memtrace_tree tree = {.paths = paths, .path_cnt = ARRAY_SIZE(paths)};
	const struct memtrace_row wanted[] = {{2, 2, 0}, {4, 1, 1}, {3, 1, 1}, {5, 1, 0}};
	struct memtrace_row *rows;
	size_t cnt, left_out;

	for (size_t top = 0; top <= 5; top++) {
		assert_ok(memtrace_hot_paths(&tree, top, &rows, &cnt, &left_out));
		assert_int_equal(cnt, top < 4 ? top : 4);
		assert_int_equal(left_out, 4 - cnt);
		assert_memory_equal(rows, wanted, cnt * sizeof(*rows));
		free(rows);
	}
}

TEST_MAIN(NULL, NULL)
