/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the FXT reader: fxt_read.c, fxt_read_calls.c, fxt_read_hits.c. Functions return 0 or
 * -ENOMEM.
 */
#pragma once

#include "base/containers/hash_index.h"
#include "base/sort.h"
#include "model/timeline.h"
#include "output/bytes/fxt_stream.h"
#include "output/shown_args.h"

/* An event of a thread. */
struct mark {
	struct sort_key key;
	enum fxt_read_type type;
	union {
		struct slice slice;	/* of the beginning of a call */
		struct instant instant; /* of an instant; owned */
	};
};

struct open_call {
	size_t slice;	     /* index */
	uint64_t limit_ns;   /* no call within it may last longer */
	bool ends_by_itself; /* it ends at limit_ns */
};

/* The reader's state of a thread, beside the timeline_thread of the same index. */
struct track {
	struct open_call *open; /* the outermost first */
	size_t open_cnt, open_cap;
	uint64_t call_ns, instant_ns; /* times of the last ones */
	struct mark *marks;
	size_t mark_cnt, mark_cap;
};

/* The events are not in order: sort them and read again. */
enum { NOT_IN_ORDER = 1 };

struct reading {
	struct timeline *timeline;
	struct fxt_names *names;
	struct track *tracks;
	size_t track_cnt, track_cap;
	struct hash_index by_id; /* threads */
	size_t trigger_cap;
	bool sorts;
	uint64_t event_cnt;
	struct flow flow; /* a flow that has begun, if flow_id is not 0 */
	uint64_t flow_id;
	uint64_t no_begin, others; /* counts of events left out */
};

/*
 * fxt_arg(): an argument by its name, or NULL. The others: its value if it has that type, else `otherwise`.
 */
const struct fxt_read_arg *fxt_arg(const struct fxt_read_event *event, const char *name);
uint64_t fxt_number(const struct fxt_read_event *event, const char *name, uint64_t otherwise);
const char *fxt_text(const struct fxt_read_event *event, const char *name, const char *otherwise);

/* Replaces *text by a copy. */
int fxt_replace_text(char **text, const char *by);

/* The timeline's id for the shown one. */
int32_t fxt_id_of(uint64_t shown);

int fxt_name_of_thread(struct reading *reading, const struct fxt_read_event *event);

/* Returns NOT_IN_ORDER if the events of the thread must be sorted first. */
int fxt_read_thread_event(struct reading *reading, const struct fxt_read_event *event);
int fxt_finish_threads(struct reading *reading);
void fxt_mark_release(struct mark *mark);

/* A hit is three events; the last is an instant on its thread (fxt_is_mark()). */
int fxt_begin_hit(struct reading *reading, const struct fxt_read_event *event);
int fxt_end_hit(struct reading *reading, const struct fxt_read_event *event);
bool fxt_is_mark(const struct reading *reading, const struct fxt_read_event *event);
int fxt_mark_hit(struct reading *reading, const struct fxt_read_event *event);

/* A hit of magic-trace: a call "hit SYMBOL" on a thread of its own, which ends at the hit. */
bool fxt_is_other_hit(const struct fxt_read_event *event);
int fxt_add_other_hit(struct reading *reading, const struct fxt_read_event *event);
