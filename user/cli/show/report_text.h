/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that print a report as text. */
#pragma once

#include "cli/show/report.h"
#include "model/timeline.h"

struct text {
	const struct report *report;
	struct terminal terminal;
};

void text_heading(const struct text *text, const char *words);

/* A line that ends with a name: `used` columns are printed already. */
void text_name_line(const struct text *text, enum colour colour, int used, const char *name);

enum colour text_colour_of(enum slice_kind kind);

/*
 * Columns: two for each of the outer levels, one for each further one, up to so many that a short name still
 * fits into 80 columns.
 */
int text_indent(uint32_t depth);

/* The hits, each with what led up to it. 0 or -ENOMEM. */
int text_hits(const struct text *text);
