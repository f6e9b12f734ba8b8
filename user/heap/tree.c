/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three steps: each stack of the trace becomes a path of places; the paths are sorted; they get their
 * weights. The order shows recursion: a recursive place lies before the end of the first path with that
 * place.
 */
#include "heap/tree.h"

#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"
#include "base/sort.h"

enum { ROOT = 0 };

static const struct memtrace_location unknown = {.function = "[unknown]", .file = ""};

struct builder {
	const struct memtrace *trace;
	const struct memtrace_tree_config *config;
	struct memtrace_tree *tree;
	struct hash_index frames, paths;
	uint32_t *path_of_stack;
};

/* ---- places ---- */

static bool is_frame(const struct memtrace_frame *frame, const struct memtrace_frame *other)
{
	return frame->line == other->line && !strcmp(frame->function, other->function) &&
	       !strcmp(frame->file, other->file);
}

static int find_frame(struct builder *builder, const struct memtrace_location *location, uint32_t *ret_frame)
{
	struct memtrace_tree *tree = builder->tree;
	enum memtrace_detail detail = builder->config->detail;
	struct memtrace_frame frame = {.function = *location->function ? location->function : "[no name]",
				       .file = detail == MEMTRACE_BY_NAME ? "" : location->file,
				       .line = detail == MEMTRACE_BY_LINE ? location->line : 0};
	uint64_t hash = hash_number(hash_text(hash_text(0, frame.function), frame.file), frame.line);
	int err;

	for (size_t at = 0, i; (i = hash_index_next(&builder->frames, hash, &at)) != HASH_INDEX_END;) {
		*ret_frame = (uint32_t)i;
		if (is_frame(&tree->frames[i], &frame))
			return 0;
	}
	*ret_frame = (uint32_t)tree->frame_cnt;
	err = hash_index_add(&builder->frames, hash, tree->frame_cnt);
	return err ? err : ARRAY_PUSH(tree->frames, tree->frame_cnt, tree->frame_cap, frame);
}

static bool is_on_path(const struct memtrace_tree *tree, uint32_t path, uint32_t frame)
{
	while (path != ROOT && tree->paths[path].frame != frame)
		path = tree->paths[path].parent;
	return path != ROOT;
}

/* Goes on from *path by that place. */
static int step(struct builder *builder, const struct memtrace_location *location, uint32_t *path)
{
	struct memtrace_tree *tree = builder->tree;
	struct memtrace_path made = {.parent = *path, .depth = tree->paths[*path].depth + 1};
	int err = find_frame(builder, location, &made.frame);
	uint64_t hash = hash_number(hash_number(0, *path), made.frame);

	if (err || (builder->config->no_recursion && is_on_path(tree, *path, made.frame)))
		return err;
	for (size_t at = 0, i; (i = hash_index_next(&builder->paths, hash, &at)) != HASH_INDEX_END;) {
		if (tree->paths[i].parent != made.parent || tree->paths[i].frame != made.frame)
			continue;
		*path = (uint32_t)i;
		return 0;
	}
	if (tree->path_cnt == MEMTRACE_NONE)
		return -ENOMEM;
	*path = (uint32_t)tree->path_cnt;
	err = hash_index_add(&builder->paths, hash, tree->path_cnt);
	return err ? err : ARRAY_PUSH(tree->paths, tree->path_cnt, tree->path_cap, made);
}

static int make_paths(struct builder *builder)
{
	struct memtrace_tree *tree = builder->tree;
	const struct memtrace *trace = builder->trace;
	CLEANUP(freep) bool *is_used = memtrace_used_stacks(trace);
	uint32_t *path_of_stack = builder->path_of_stack;
	int err = is_used ? 0 : -ENOMEM;

	if (!err)
		err = ARRAY_PUSH(tree->paths, tree->path_cnt, tree->path_cap, (struct memtrace_path){0});
	for (size_t i = 1; i < trace->stack_cnt && !err; i++) {
		const struct memtrace_stack *stack = &trace->stacks[i];
		const struct memtrace_location *locations;
		size_t cnt = is_used[i] ? memtrace_locations(trace, stack->code, &locations) : 0;

		path_of_stack[i] = path_of_stack[stack->parent];
		for (size_t j = 0; j < cnt && !err; j++)
			err = step(builder, &locations[j], &path_of_stack[i]);
	}
	for (size_t i = 0; i < trace->sample_cnt && !err; i++) {
		tree->path_of[i] = path_of_stack[trace->samples[i].stack];
		if (tree->path_of[i] == ROOT)
			err = step(builder, &unknown, &tree->path_of[i]);
	}
	return err;
}

/* ---- order ---- */

static int compare_siblings(const void *left, const void *right, void *ctx)
{
	const struct memtrace_tree *tree = ctx;
	const struct memtrace_path *a = &tree->paths[*(const uint32_t *)left],
				   *b = &tree->paths[*(const uint32_t *)right];
	const struct memtrace_frame *f = &tree->frames[a->frame], *g = &tree->frames[b->frame];

	return ORDER_UP(a->parent, b->parent)
		       ?: strcmp(f->function, g->function)
		       ?: strcmp(f->file, g->file) ?: ORDER_UP(f->line, g->line);
}

/*
 * Callees come after their callers in `sorted`, too: the last of a path's are put on the stack first, so that
 * the first is next.
 */
static void put_in_order(const struct memtrace_tree *tree, const uint32_t *sorted, const uint32_t *first,
			 uint32_t *waiting, uint32_t *place)
{
	uint32_t cnt = 1, placed = 0;

	waiting[0] = ROOT;
	while (cnt) {
		uint32_t path = waiting[--cnt];

		place[path] = placed++;
		for (uint32_t i = first[path];
		     i < tree->path_cnt - 1 && tree->paths[sorted[i]].parent == path; i++)
			cnt++;
		for (uint32_t i = first[path], at = cnt;
		     i < tree->path_cnt - 1 && tree->paths[sorted[i]].parent == path; i++)
			waiting[--at] = sorted[i];
	}
}

static void move_paths(struct memtrace_tree *tree, struct memtrace_path *moved, const uint32_t *place)
{
	for (size_t i = 0; i < tree->path_cnt; i++) {
		moved[place[i]] = tree->paths[i];
		moved[place[i]].parent = place[tree->paths[i].parent];
		moved[place[i]].end = place[i] + 1;
	}
	for (size_t i = tree->path_cnt; i-- > 1;)
		if (moved[moved[i].parent].end < moved[i].end)
			moved[moved[i].parent].end = moved[i].end;
	free(tree->paths);
	tree->paths = moved;
	tree->path_cap = tree->path_cnt;
}

static int sort_paths(struct memtrace_tree *tree, size_t sample_cnt)
{
	size_t cnt = tree->path_cnt;
	CLEANUP(freep) uint32_t *sorted = calloc(cnt, sizeof(*sorted));
	CLEANUP(freep) uint32_t *first = calloc(cnt, sizeof(*first));
	CLEANUP(freep) uint32_t *waiting = calloc(cnt, sizeof(*waiting));
	CLEANUP(freep) uint32_t *place = calloc(cnt, sizeof(*place));
	struct memtrace_path *moved = calloc(cnt, sizeof(*moved));

	if (!sorted || !first || !waiting || !place || !moved) {
		free(moved);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < cnt; i++)
		sorted[i - 1] = i;
	qsort_r(sorted, cnt - 1, sizeof(*sorted), compare_siblings, tree);
	memset(first, 0xff, cnt * sizeof(*first)); /* behind all: no callees */
	for (uint32_t i = (uint32_t)cnt - 1; i-- > 0;)
		first[tree->paths[sorted[i]].parent] = i;
	put_in_order(tree, sorted, first, waiting, place);
	move_paths(tree, moved, place);
	for (size_t i = 0; i < sample_cnt; i++)
		tree->path_of[i] = place[tree->path_of[i]];
	return 0;
}

/* ---- weights ---- */

static void add(struct memtrace_weight *sum, const struct memtrace_weight *weight)
{
	sum->allocations = memtrace_add(sum->allocations, weight->allocations);
	sum->allocated = memtrace_add(sum->allocated, weight->allocated);
	sum->live = memtrace_add(sum->live, weight->live);
	sum->peak = memtrace_add(sum->peak, weight->peak);
}

static int weigh_samples(struct memtrace_tree *tree, const struct memtrace *trace)
{
	CLEANUP(freep) bool *is_alive = calloc(trace->sample_cnt + 1, sizeof(*is_alive));
	int err = is_alive ? memtrace_find_peak(trace, &tree->peak, is_alive) : -ENOMEM;

	for (size_t i = 0; i < trace->sample_cnt && !err; i++) {
		const struct memtrace_sample *sample = &trace->samples[i];

		add(&tree->paths[tree->path_of[i]].self,
		    &(struct memtrace_weight){
			    .allocations = 1,
			    .allocated = sample->nsamples,
			    .live = sample->end_us == MEMTRACE_NEVER ? sample->nsamples : 0,
			    .peak = is_alive[i] ? sample->nsamples : 0,
		    });
	}
	return err;
}

/* Callees first. */
static void weigh_paths(struct memtrace_tree *tree)
{
	for (size_t i = tree->path_cnt; i-- > 0;) {
		struct memtrace_path *path = &tree->paths[i];

		add(&path->total, &path->self);
		if (i != ROOT)
			add(&tree->paths[path->parent].total, &path->total);
	}
}

static int weigh_frames(struct memtrace_tree *tree)
{
	CLEANUP(freep)
	uint32_t *end = calloc(tree->frame_cnt + 1, sizeof(*end)); /* of the path that had it */

	if (!end)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->path_cnt; i++) {
		const struct memtrace_path *path = &tree->paths[i];
		struct memtrace_frame *frame = &tree->frames[path->frame];

		add(&frame->self, &path->self);
		if (i < end[path->frame])
			continue;
		end[path->frame] = path->end;
		add(&frame->total, &path->total);
	}
	return 0;
}

int memtrace_tree_new(struct memtrace_tree **ret_tree, const struct memtrace *trace,
		      const struct memtrace_tree_config *config)
{
	CLEANUP(memtrace_tree_freep) struct memtrace_tree *tree = calloc(1, sizeof(*tree));
	struct builder builder = {.trace = trace, .config = config, .tree = tree};
	int err = -ENOMEM;

	builder.path_of_stack = calloc(trace->stack_cnt + 1, sizeof(*builder.path_of_stack));
	if (tree)
		tree->path_of = calloc(trace->sample_cnt + 1, sizeof(*tree->path_of));
	if (tree && tree->path_of && builder.path_of_stack)
		err = make_paths(&builder);
	hash_index_release(&builder.frames);
	hash_index_release(&builder.paths);
	free(builder.path_of_stack);
	if (!err)
		err = sort_paths(tree, trace->sample_cnt);
	if (!err)
		err = weigh_samples(tree, trace);
	if (err)
		return err;
	weigh_paths(tree);
	err = weigh_frames(tree);
	if (!err)
		*ret_tree = TAKE_PTR(tree);
	return err;
}

void memtrace_tree_free(struct memtrace_tree *tree)
{
	free(tree->frames);
	free(tree->paths);
	free(tree->path_of);
	free(tree);
}

void memtrace_tree_frames(const struct memtrace_tree *tree, uint32_t path, uint32_t *frames)
{
	for (; path != ROOT; path = tree->paths[path].parent)
		frames[tree->paths[path].depth - 1] = tree->paths[path].frame;
}
