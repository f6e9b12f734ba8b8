/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parts of the report as text: lines that fit the terminal. */
#pragma once

#include <stdio.h>

#include "cli/show/report.h"

struct report_text {
	const struct report *report;
	struct terminal terminal;
};

/* Ends a line with a text: `used` columns are printed already. */
void report_text_line(const struct report_text *text, enum colour colour, int used, const char *words);

/* The same with the name of a function (cli/show/fit_name.h). */
void report_name_line(const struct report_text *text, enum colour colour, int used, const char *name);

/* Columns for calls of that depth: two for each of the outer levels, one for each further one, up to max. */
int report_indent(uint32_t depth, int max);

/* Prints the hits that were asked for. 0 or -ENOMEM. */
int report_hits(const struct report_text *text);
