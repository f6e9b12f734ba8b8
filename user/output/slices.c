/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline as text, one line a slice, for golden tests and scripts: start_ns, end_ns, depth, name, pid
 * and tid between tabs, sorted by thread, start and depth. An instant is a line of depth -1.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/sort.h"
#include "output/shown_args.h"
#include "output/sink.h"

struct row {
	uint64_t start_ns, end_ns;
	int64_t depth;
	const char *name;
	const char *suffix;
	size_t order; /* as given: what sorts equal rows */
};

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return ORDER_UP(a->start_ns, b->start_ns)
		       ?: ORDER_UP(a->depth, b->depth) ?: ORDER_UP(a->order, b->order);
}

static void write_row(struct output *output, const struct row *row, const struct timeline_thread *thread)
{
	output_printf(output, "%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t", row->start_ns, row->end_ns,
		      row->depth);
	write_on_line(output, row->name);
	output_printf(output, "%s\t%d\t%d\n", row->suffix, thread->pid, thread->tid);
}

static int write_thread(struct output *output, const struct timeline_thread *thread)
{
	size_t cnt = thread->slice_cnt + thread->instant_cnt;
	struct row *rows = calloc(cnt + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < thread->slice_cnt; i++) {
		const struct slice *slice = &thread->slices[i];

		rows[i] = (struct row){slice->start_ns,
				       slice->end_ns,
				       slice->depth,
				       slice_name(slice),
				       slice->flags & SLICE_INFERRED_START ? " [inferred start time]" : "",
				       i};
	}
	for (size_t i = 0; i < thread->instant_cnt; i++) {
		const struct instant *instant = &thread->instants[i];

		rows[thread->slice_cnt + i] = (struct row){
			instant->time_ns, instant->time_ns, -1, instant->text, "", thread->slice_cnt + i};
	}
	sort_array(rows, cnt, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < cnt; i++)
		write_row(output, &rows[i], thread);
	free(rows);
	return 0;
}

static int compare_threads(const void *left, const void *right)
{
	const struct timeline_thread *a = *(const struct timeline_thread *const *)left;
	const struct timeline_thread *b = *(const struct timeline_thread *const *)right;

	return ORDER_UP(a->pid, b->pid) ?: ORDER_UP(a->tid, b->tid);
}

static int slices_write(const struct timeline *timeline, struct output *output)
{
	const struct timeline_thread **threads =
		calloc(timeline->thread_cnt + 1, sizeof(struct timeline_thread *));
	int err = 0;

	if (!threads)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->thread_cnt; i++)
		threads[i] = &timeline->threads[i];
	sort_array(threads, timeline->thread_cnt, sizeof(struct timeline_thread *), compare_threads);
	output_printf(output, "# start_ns\tend_ns\tdepth\tname\tpid\ttid\n");
	for (size_t i = 0; i < timeline->thread_cnt && !err; i++)
		err = write_thread(output, threads[i]);
	free(threads);
	return err;
}

const struct sink sink_slices = {
	.name = "slices",
	.suffix = ".tsv",
	.needs_arrays = true,
	.how_to_open = "it is text between tabs",
	.write = slices_write,
};
