/* SPDX-License-Identifier: BSD-2-Clause */
/* One line of perf script's text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/branch.h"

enum script_line_type {
	SCRIPT_NOTHING, /* empty, or a comment */
	SCRIPT_HEADER,	/* an event, whose call stack may follow */
	SCRIPT_FRAME,	/* one address of a call stack */
	SCRIPT_ERROR,	/* an error of perf's decoder */
};

struct script_text {
	const char *at;
	size_t len;
};

/* An address as perf shows it: "4e10 main+0x10 (/bin/x)". */
struct script_place {
	uint64_t ip;
	struct script_text name, object;
	uint64_t offset;
	bool named;	 /* true: a symbol */
	bool has_offset; /* false: the start of the symbol is unknown */
};

struct script_line {
	enum script_line_type type;
	int32_t pid, tid;
	bool has_time;
	uint64_t time_ns, period;
	struct script_text event;   /* "branches", "cycles", "cbr" */
	struct script_text message; /* of an error; else the rest of the line after the event's name */
	bool is_branch;		    /* `branch` has kind, flags, from and to */
	struct branch branch;
	struct script_place from, to; /* of a branch; a frame is in `from`, an event's address in `to` */
	bool has_place;		      /* the event has an address */
};

/* Parses `text`, without its newline. False: perf script writes no such line. */
bool script_line_parse(struct script_line *ret_line, const char *text);
