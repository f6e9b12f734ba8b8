/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline: what a viewer shows. The call-stack engine makes it; sinks write it. Times are nanoseconds
 * since timeline.base_ns. Plain data.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/hash_index.h"
#include "model/hit.h"
#include "model/symbol.h"

enum slice_kind {
	SLICE_CALL,
	SLICE_SYSCALL,	 /* "[syscall]": inside the kernel, which is not traced */
	SLICE_UNTRACED,	 /* "[untraced]": interrupted or switched off */
	SLICE_OFF_CPU,	 /* "[off-cpu]": within one of these two, another thread ran */
	SLICE_UNKNOWN,	 /* "[unknown]": an unknown frame */
	SLICE_RUN_QUEUE, /* "[run-queue]": runnable, but without a processor */
	SLICE_KIND_CNT,
};

enum slice_flags {
	SLICE_INFERRED_START = 1u << 0, /* was open when the trace begins: it started earlier */
	SLICE_INLINED = 1u << 2,	/* an inlined call; its symbol stands for this call only */
	SLICE_OPEN_END = 1u << 1,	/* was open when the trace ends: it ended later */
	/* known from samples: each edge may be off by a sample period */
	SLICE_SAMPLED = 1u << 3,
	SLICE_DETAILED = 1u << 4, /* `detail` is set instead of `ip` */
};

/* Details of a pause. Strings except `name` are its own. */
struct slice_detail {
	const char *name;   /* "[off-cpu] futex": the name for sums; lives as long as the timeline */
	char *title;	    /* "[off-cpu] futex, woken by worker-3 after 2.1 ms"; NULL: the name */
	char *about;	    /* what the system call is about: "futex at 0x55d0c0"; NULL: unknown */
	char *file;	    /* the file behind its descriptor: "socket 127.0.0.1:6379"; NULL: unknown */
	char *woken_by;	    /* "worker-3 (tid 4711)"; NULL: not known */
	char *behind;	    /* of [run-queue]: "hog", which had the processor; NULL: none, or unknown */
	int64_t result;	    /* of a system call, from the kernel */
	int64_t timeout_ns; /* how long it waits at most; below 0: forever */
	uint64_t futex;	    /* address */
	int32_t fd;
	bool has_result, has_timeout, has_futex, has_fd;
};

/*
 * Slices of a thread are in the order of their beginnings, a caller before its callees, and nest: a slice of
 * depth n > 0 lies within the last slice of depth n - 1 before it. Depth 0 is the outermost frame. end_ns >=
 * start_ns. Times may be equal, so the order tells more than the times.
 */
struct slice {
	uint64_t start_ns, end_ns;
	const struct symbol *symbol; /* NULL unless SLICE_CALL */
	union {
		uint64_t ip; /* where the function was entered or the pause began; 0 if inferred */
		const struct slice_detail *detail; /* SLICE_DETAILED (never a call); owned by the timeline */
	};
	uint32_t depth;
	uint8_t kind;
	uint8_t flags;
	uint16_t goroutine; /* 1 + index in timeline.goroutines; 0: unknown */
};

/* The details, or NULL. */
static inline const struct slice_detail *slice_detail(const struct slice *slice)
{
	return slice->flags & SLICE_DETAILED ? slice->detail : NULL;
}

/* The name for sums: the symbol's, the detail's, or "[syscall]" and the like. */
const char *slice_name(const struct slice *slice);

/* The name of the single slice: the same, or a more detailed one. */
const char *slice_title(const struct slice *slice);

/* The certainty of its times: "exact", "inferred" or "sampled". */
const char *slice_certainty(const struct slice *slice);

/* The kind as a word, for formats that have a field for it: "call", "off-cpu". */
const char *slice_kind_name(enum slice_kind kind);

/* An argument of an instant, for formats that have fields besides its text. */
struct instant_arg {
	const char *name; /* lives as long as the timeline */
	enum { INSTANT_NUMBER, INSTANT_ADDRESS, INSTANT_TEXT } type;
	uint64_t number;
	char *text; /* INSTANT_TEXT; owned by the instant */
};

enum { INSTANT_ARGS_MAX = 15 };

/* A call stack of an event, a line for each function, innermost first; equal ones are one. */
struct stack_text {
	uint32_t nth; /* index in timeline.stack_texts */
	char text[];
};

/* A moment on a thread: a gap in its trace, or another event. */
struct instant {
	uint64_t time_ns; /* first: sorted by it */
	char *text;	  /* "[gap: overflow]", "[ptwrite: 0x2a]" */
	char *name;	  /* "malloc": for sums, where `args` are shown, too; NULL: the text */
	bool is_event;	  /* not a gap */
	bool ends;	  /* it is the end of what `number` stands for */
	/* the same of the beginning and the end of one allocation, 0: one of them is not known */
	uint64_t number;
	struct instant_arg *args;
	size_t arg_cnt;
	const struct stack_text *stack; /* the timeline's; NULL: it is not known */
};

void instant_release(struct instant *instant);

/* The name in formats that show the arguments, too. */
const char *instant_name(const struct instant *instant);

/* An allocation, or its end. */
struct instant_alloc {
	const char *function; /* "malloc"; NULL: its end */
	uint64_t number, bytes, address;
	uint64_t lifetime_ns; /* of an end */
};

/* Makes it one: sets all but the time. 0 or -ENOMEM. */
int instant_set_alloc(struct instant *instant, const struct instant_alloc *alloc);

/* The arguments by which it is known: INSTANT_ALLOC_NUMBER is there even if it is 0. */
#define INSTANT_ALLOC_NUMBER   "allocation"
#define INSTANT_ALLOC_BYTES    "bytes"
#define INSTANT_ALLOC_ADDRESS  "address"
#define INSTANT_ALLOC_LIFETIME "lifetime_ns"
#define INSTANT_ALLOC_END      "free"

/* The argument that has the stack. */
#define INSTANT_STACK "stack"

/* The argument that says in which function it was, where that is known by itself. */
#define INSTANT_FUNCTION "function"

/* Adds a copy of `arg`. -ENOMEM: out of memory, or INSTANT_ARGS_MAX reached. */
int instant_add_arg(struct instant *instant, const struct instant_arg *arg);

/* Slices that are too many for memory. Each is there while somebody goes by it (model/slice_cursor.h). */
struct stored_slices {
	size_t cnt;
	size_t symbol_cnt; /* of functions that they are calls of, some of them several times */
	const struct stored_ops {
		int (*begin)(const struct stored_slices *stored, void **ret_pass); /* 0 or -ENOMEM */
		/* Good until the one after it. NULL: there is none, or *ret_err. */
		const struct slice *(*next)(void *pass, int *ret_err);
		void (*end)(void *pass);
		const struct symbol *(*symbol)(const struct stored_slices *stored, size_t nth); /* or NULL */
		void (*free)(struct stored_slices *stored);
	} * ops;
};

struct timeline_thread {
	int32_t pid, tid;
	char *name; /* the thread's comm */
	struct slice *slices;
	size_t slice_cnt, slice_cap;
	struct stored_slices *stored; /* in place of `slices`; NULL: they are there */
	struct instant *instants;
	size_t instant_cnt, instant_cap;
};

/* A value over time: events counted, a frequency. */
struct counter {
	char *name;
	int32_t pid, tid;
	struct counter_point {
		uint64_t time_ns, value;
	} * points;
	size_t point_cnt, point_cap;
};

/* One thread woke another: an arrow between them. */
struct flow {
	uint64_t from_ns, to_ns; /* the wake-up (first: sorted by it), and when the other thread ran */
	int32_t from_pid, from_tid, to_pid, to_tid;
};

/* A printed value of a hit. */
struct timeline_value {
	const char *name; /* "= NAME", owned by the timeline: see timeline_value_name() */
	enum value_kind kind;
	char *text; /* NULL: it was unreadable */
};

struct timeline_hit {
	const struct hit *hit; /* of timeline.hit_list */
	/* moved into the slice of the probed call if clocks disagree */
	uint64_t time_ns;
	const struct symbol *symbol; /* the probed function, NULL where unknown */
	const struct symbol *const
		*stack_symbols; /* of hit->stack, entries NULL where unknown; the timeline's */
	struct timeline_value *values;
	size_t value_cnt;
};

struct timeline {
	uint64_t base_ns;	   /* time 0 on the recording's clock */
	uint64_t base_realtime_ns; /* time 0 as wall-clock time, ns since the epoch */
	char *command;		   /* the target's command line */
	char *source, *stopped_by; /* as in the snapshot */
	struct timeline_thread *threads;
	size_t thread_cnt, thread_cap;
	struct timeline_hit *hits;
	size_t hit_cnt, hit_cap;
	struct hit_list *hit_list; /* owns the hits (shared); NULL: none yet */
	struct word_pool *stacks;  /* stack_symbols of hits */
	struct stack_text **stack_texts;
	size_t stack_text_cnt, stack_text_cap;
	struct hash_index stack_text_index;
	struct counter *counters;
	size_t counter_cnt, counter_cap;
	struct flow *flows; /* sorted by from_ns */
	size_t flow_cnt, flow_cap;
	struct slice_detail **details; /* of slices */
	size_t detail_cnt, detail_cap;
	uint64_t period_ns;   /* time between two samples of a running thread; 0: no slice is sampled */
	uint64_t *goroutines; /* their numbers */
	size_t goroutine_cnt, goroutine_cap;
	char **triggers; /* names; hit.trigger is an index */
	size_t trigger_cnt;
	char **value_names; /* of values of hits: "= NAME" */
	size_t value_name_cnt, value_name_cap;
};

/* The timeline's copy of a name for values of hits. NULL: out of memory. */
const char *timeline_value_name(struct timeline *timeline, const char *name);

/* Adds a value with a name of timeline_value_name(), taking over `text` even on failure. 0 or -ENOMEM. */
int timeline_hit_add_value(struct timeline_hit *hit, const char *name, enum value_kind kind, char *text);

/* The timeline's copy of the symbols of a hit's stack; equal stacks share one. NULL: out of memory. */
const struct symbol *const *timeline_stack_symbols(struct timeline *timeline,
						   const struct symbol *const *symbols, size_t cnt);

/* The timeline's copy of a stack as text. NULL: out of memory. */
const struct stack_text *timeline_stack_text(struct timeline *timeline, const char *text);

/* The timeline's copy of `detail`, for slices. Takes over its strings even on failure. 0 or -ENOMEM. */
int timeline_add_detail(struct timeline *timeline, const struct slice_detail *detail,
			const struct slice_detail **ret_detail);

/* The name of the hit's trigger. */
const char *timeline_trigger(const struct timeline *timeline, const struct hit *hit);

/* The thread with this tid, or NULL. */
struct timeline_thread *timeline_thread_of(const struct timeline *timeline, int32_t tid);

void timeline_thread_release(struct timeline_thread *thread);

/* The number of gaps. */
size_t timeline_thread_gaps(const struct timeline_thread *thread);

/* The number of slices that began before `time_ns`. */
size_t timeline_thread_begun(const struct timeline_thread *thread, uint64_t time_ns);

/* Replaces the thread's slices by `slices`, which it takes over. */
void timeline_thread_replace(struct timeline_thread *thread, struct slice *slices, size_t cnt, size_t cap);

int timeline_new(struct timeline **ret_timeline);
void timeline_free(struct timeline *timeline);

/* Checks order, nesting and bounds as stated above; for tests and debug builds. */
int timeline_is_valid(const struct timeline *timeline);
