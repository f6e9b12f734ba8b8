/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the reader of FXT share: fxt_read.c, fxt_read_calls.c, fxt_read_hits.c. Functions return
 * 0 or -ENOMEM.
 */
#pragma once

#include "base/hash_index.h"
#include "base/sort.h"
#include "model/timeline.h"
#include "output/fxt_stream.h"
#include "output/shown.h"

/* What happened on a thread. */
struct mark {
	struct sort_key key;
	enum fxt_read_type type;
	struct slice slice;	   /* of a beginning */
	const char *text;	   /* of an instant */
	struct fxt_read_arg *args; /* of an instant; the mark's */
	size_t arg_cnt;
};

struct open_call {
	size_t slice;	     /* index */
	uint64_t limit_ns;   /* no call within it may last longer */
	bool ends_by_itself; /* at limit_ns */
};

/* What is known of a thread besides its timeline_thread, which has the same index. */
struct track {
	struct open_call *open; /* the outermost first */
	size_t open_cnt, open_cap;
	uint64_t call_ns, instant_ns; /* when the last ones were */
	struct mark *marks;
	size_t mark_cnt, mark_cap;
};

/* What reading says of a trace whose records are not in order: it takes another reading. */
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
	struct flow flow; /* that has begun, if flow_id says so */
	uint64_t flow_id;
	uint64_t no_begin, others; /* left out */
};

/* An argument by its name, NULL where there is none; what it holds, where it is of that type. */
const struct fxt_read_arg *fxt_arg(const struct fxt_read_event *event, const char *name);
uint64_t fxt_number(const struct fxt_read_event *event, const char *name, uint64_t otherwise);
const char *fxt_text(const struct fxt_read_event *event, const char *name, const char *otherwise);

/* A copy in place of *text. */
int fxt_replace_text(char **text, const char *by);

/* The timeline's id. */
int32_t fxt_id_of(uint64_t shown);

int fxt_name_of_thread(struct reading *reading, const struct fxt_read_event *event);

/* NOT_IN_ORDER: the events of the thread must be sorted first. */
int fxt_read_thread_event(struct reading *reading, const struct fxt_read_event *event);
int fxt_finish_threads(struct reading *reading);

/* The three events that a hit is; the last is an instant on its thread, as fxt_is_mark() tells. */
int fxt_begin_hit(struct reading *reading, const struct fxt_read_event *event);
int fxt_end_hit(struct reading *reading, const struct fxt_read_event *event);
bool fxt_is_mark(const struct reading *reading, const struct fxt_read_event *event);
int fxt_mark_hit(struct reading *reading, const struct fxt_read_event *event);

/* A hit as magic-trace writes it: a thread of their own has a call "hit SYMBOL", which ends at it. */
bool fxt_is_other_hit(const struct fxt_read_event *event);
int fxt_add_other_hit(struct reading *reading, const struct fxt_read_event *event);
