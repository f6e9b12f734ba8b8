/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/flamegraph.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "output/bytes/json_text.h"
#include "output/embed.h"
#include "output/shown_args.h"

EMBED(flamegraph_html, "user/heap/flamegraph.html");

/* ---- folded ---- */

static uint32_t deepest(const struct memtrace_tree *tree)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < tree->path_cnt; i++)
		if (tree->paths[i].depth > depth)
			depth = tree->paths[i].depth;
	return depth;
}

int memtrace_write_folded(const struct memtrace *trace, const struct memtrace_tree *tree, bool samples,
			  struct output *output)
{
	CLEANUP(freep) uint32_t *frames = calloc(deepest(tree) + 1, sizeof(*frames));

	for (uint32_t i = 1; frames && i < tree->path_cnt; i++) {
		uint64_t self = tree->paths[i].self.allocated;

		if (!self)
			continue;
		memtrace_tree_frames(tree, i, frames);
		for (uint32_t at = 0; at < tree->paths[i].depth; at++) {
			output_write(output, ";", at ? 1 : 0);
			write_folded_name(output, tree->frames[frames[at]].function);
		}
		output_printf(output, " %" PRIu64 "\n", samples ? self : memtrace_bytes_of(trace, self));
	}
	return frames ? 0 : -ENOMEM;
}

/* ---- the page ---- */

static void write_frames(const struct memtrace_tree *tree, struct output *output)
{
	for (size_t i = 0; i < tree->frame_cnt; i++) {
		output_printf(output, "%s[", i ? ",\n" : "");
		json_string_in_html(output, tree->frames[i].function);
		output_printf(output, ",");
		json_string_in_html(output, tree->frames[i].file);
		output_printf(output, "]");
	}
}

/*
 * In the order of the tree: depth, frame, allocations, and words: allocated, alive at the end, alive at the
 * peak. All with what they call.
 */
static void write_paths(const struct memtrace_tree *tree, struct output *output)
{
	uint64_t least = tree->paths[0].total.allocated / MEMTRACE_PAGE_LEAST;

	for (uint32_t i = 0; i < tree->path_cnt;) {
		const struct memtrace_path *path = &tree->paths[i];
		const struct memtrace_weight *total = &path->total;

		if (total->allocated < least) {
			i = path->end;
			continue;
		}
		output_printf(output,
			      "%s%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			      i ? ",\n" : "", path->depth, path->frame, total->allocations, total->allocated,
			      total->live, total->peak);
		i++;
	}
}

static void write_data(const struct memtrace *trace, const struct memtrace_tree *tree, struct output *output)
{
	output_printf(output, "{\"program\":");
	json_string_in_html(output, trace->info->executable);
	output_printf(output, ",\"pid\":%" PRIu64 ",\"bytes\":%.17g,\"frames\":[\n", trace->info->pid,
		      trace->info->word_bits / 8 / trace->info->sample_rate);
	write_frames(tree, output);
	output_printf(output, "],\"paths\":[\n");
	write_paths(tree, output);
	output_printf(output, "]}\n");
}

void memtrace_write_page(const struct memtrace *trace, const struct memtrace_tree *tree,
			 struct output *output)
{
	static const char mark[] = "@DATA@";
	const char *at = strstr(flamegraph_html, mark), *rest = at + strlen(mark);

	output_write(output, flamegraph_html, (size_t)(at - flamegraph_html));
	write_data(trace, tree, output);
	output_write(output, rest, strlen(rest));
}
