/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What sinks show of a timeline beside its times, the same in each. Names of arguments are string constants.
 */
#pragma once

#include <stdint.h>

#include "model/timeline.h"
#include "output/bytes/output.h"

enum shown_type { SHOWN_INT, SHOWN_POINTER, SHOWN_STRING, SHOWN_TEXT };

struct shown_arg {
	const char *name;
	enum shown_type type;
	union {
		int64_t number;	  /* SHOWN_POINTER: its bits */
		const char *text; /* SHOWN_STRING: lasts as long as the timeline; SHOWN_TEXT: for now */
	};
};

enum {
	ABOUT_ARGS_MAX = 6,
	SLICE_ARGS_MAX = 15,
	SLICE_SOURCE_ARGS = 2,
	HIT_CALL_ARGS_MAX = 32,
	HIT_STATE_ARGS = 27
};

/* Of one with a symbol: where it was entered, or else where its function is. */
static inline uint64_t slice_address(const struct slice *slice)
{
	return slice->ip ? slice->ip : slice->symbol->start;
}

/* Of one of which a title, an address and a function is all there is to say; else NULL. */
static inline const struct symbol *slice_plain(const struct slice *slice)
{
	return slice->flags || slice->goroutine ? NULL : slice->symbol;
}

/* Of the whole trace: where it comes from, and when it was. Returns how many. */
size_t about_args(struct shown_arg args[static ABOUT_ARGS_MAX], const struct timeline *timeline);

/* Where it is, what is special about it. Returns how many. */
size_t slice_args(struct shown_arg args[static SLICE_ARGS_MAX], const struct timeline *timeline,
		  const struct slice *slice);

/* Where its function is declared, for formats that have no field for that. Returns how many: 0 if unknown. */
size_t slice_source_args(struct shown_arg args[static SLICE_SOURCE_ARGS], const struct slice *slice);

/* Of an instant. Returns how many. */
enum { SHOWN_INSTANT_ARGS = INSTANT_ARGS_MAX + 1 /* its stack */ };
size_t instant_args(struct shown_arg args[static SHOWN_INSTANT_ARGS], const struct instant *instant);

/* Of a hit: the arguments of the call, times, and what was to be printed. Returns how many. */
size_t hit_call_args(struct shown_arg args[static HIT_CALL_ARGS_MAX], const struct timeline_hit *hit);

/* Whether a value's name is a plain word, which may be the name of something else: it has "= " before it. */
bool shown_is_word(const char *name);

/* What stands for a value that could not be read. */
#define SHOWN_UNREADABLE "[unreadable]"

/*
 * Of a hit: its thread, and all registers. `comm` has room for HIT_COMM_BYTES + 1 and lasts as long as the
 * arguments.
 */
void hit_state_args(struct shown_arg args[static HIT_STATE_ARGS], const struct timeline_hit *hit, char *comm);

/* Stands for callers that are not known. */
#define SHOWN_CUT "..."

/*
 * The call stack, a line for each frame, and SHOWN_CUT behind one that goes on; the
 * caller's. NULL: no memory.
 */
char *hit_stack_text(const struct timeline_hit *hit);

/* What an arrow from who woke a thread to who was woken is called. */
#define SHOWN_FLOW "wake-up"

/* The same from an allocation to its end, and the number for it: apart from those of wake-ups. */
#define SHOWN_ALLOC_FLOW "allocation"
uint64_t alloc_flow(const struct instant *instant);

/* The process and the thread that hits are shown on, where they have a track of their own. */
enum { SHOWN_HITS = 1 << 30 };

/*
 * Viewers drop thread 0, and show all of them (the idle ones of processors) as one: an id of its own for
 * each.
 */
uint64_t shown_id(int32_t id);

/* "COMMAND [pid=PID]", cut where it is very long. */
struct process_name {
	char text[4096];
} process_name(const struct timeline *timeline, int32_t pid);

/* `text` so that it stays on its line (base/on_line.h). */
void write_on_line(struct output *output, const char *text);

/* The first `len` bytes of `text`, which end between characters. */
void write_part_on_line(struct output *output, const char *text, size_t len);

/*
 * The same for a function's name in a folded stack, where nothing in it may look like the end of a frame
 * either.
 */
void write_folded_name(struct output *output, const char *name);
