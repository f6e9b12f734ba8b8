/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sink writes a timeline in one format. Where the bytes go (file, compression, stdout) is struct output's
 * business, how they look is the sink's.
 */
#pragma once

#include <stdbool.h>

#include "model/timeline.h"
#include "output/bytes/output.h"

struct sink {
	const char *name;	 /* "fxt": what --format takes */
	const char *suffix;	 /* ".fxt": what -o is recognised by, before ".gz" or ".zst" */
	const char *how_to_open; /* "open it in https://ui.perfetto.dev" */
	bool needs_arrays;	 /* it goes back and forth in slices: timeline_load() */
	/*
	 * Writes the whole timeline; 0 or a negative errno with a sentence. What was left out is told by
	 * log_warn().
	 */
	int (*write)(const struct timeline *timeline, struct output *output);
};

extern const struct sink sink_fxt;
extern const struct sink sink_html;	    /* a page that shows itself (output/html.h) */
extern const struct sink sink_pftrace;	    /* Perfetto's protobuf */
extern const struct sink sink_speedscope;   /* no hits, no gaps, no counters; no objects */
extern const struct sink sink_json;	    /* Chrome's trace events */
extern const struct sink sink_folded;	    /* no hits, no gaps: only how long each stack took; no counters */
extern const struct sink sink_folded_total; /* the same, callees included */
extern const struct sink sink_pprof;	    /* no hits, no gaps, no counters */
extern const struct sink sink_tree;	    /* no counters */
extern const struct sink sink_csv;	    /* no registers and stacks of hits, no counters */
extern const struct sink sink_slices; /* the tab-separated text of `dump --slices`; no hits, no counters */

/*
 * The sink for an output file's name ("x.fxt", "x.fxt.gz"); where its suffix names none, that of the name
 * `format` (NULL: none, and FXT for "-" and devices). NULL with a sentence that lists what is known.
 */
const struct sink *sink_find(const char *path, const char *format);

/* What is known, for people: "fxt, json or slices"; ".fxt, .json or .tsv". */
struct sink_list {
	char text[256];
} sink_names(void), sink_suffixes(void);
