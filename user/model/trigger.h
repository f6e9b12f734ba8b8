/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Triggers as data: probes, which of their firings are hits, and what a hit does. trigger/trigger.h makes and
 * attaches them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arg_layout;
struct condition;
struct prints;

/* One uprobe: a place in a file. */
struct probe {
	char *path; /* the file that is probed */
	uint64_t file_offset;
	uint64_t addr;	/* the same as a virtual address of the file */
	char *symbol;	/* for messages: "compress_block", "puts+0x4" */
	char *function; /* the function that it is at the beginning of, as traces show it; or NULL */
	const struct arg_layout *layout; /* where its arguments are (probe/args/arg_layout.h) */
	struct arg_layout *own_layout;	 /* `layout` of a USDT probe: owned; else NULL */
	uint8_t original[16];		 /* code bytes of the file, which a breakpoint hides */
	/*
	 * file offset of a USDT probe's semaphore, which the kernel raises while the probe is there; 0: none
	 */
	uint64_t ref_ctr_offset;
	enum probe_at { PROBE_HIT, PROBE_CALL_BEGIN, PROBE_CALL_END } at; /* what the probe does */
	uint32_t place;							  /* PLACE_* (bpf/rule.h) */
};

/* Which firings of a trigger are hits. All 0: each of them. */
struct trigger_rule {
	struct condition *condition; /* condition/condition.h; owned; NULL: always true */
	struct prints *prints;	     /* condition/prints.h; owned; NULL: none */
	uint64_t slower_than_ns;     /* minimum duration of a call, checked when it returns; 0: no limit */
	uint64_t skip;		     /* number of firings to ignore first */
	uint64_t every_ns;	     /* at most one in this time; 0: no limit */
	bool is_span;		     /* it measures the way between two places: trigger_set_from() */
};

enum { TRIGGER_MAX = 64 };

/*
 * A file that has a nop for each probe, `distance` bytes from one to the next, in the order of triggers and
 * their probes: probes are put on these, too.
 */
struct probe_mirror {
	const char *path;
	uint64_t file_offset; /* of the first one */
	uint64_t distance;
	size_t max;
};

/* How probes are attached. */
enum trigger_link { TRIGGER_LINK_AUTO, TRIGGER_LINK_UPROBE_MULTI, TRIGGER_LINK_PERF_UPROBE };

struct trigger {
	char *name;	 /* as the user spelled it */
	uint32_t action; /* enum hit_action */
	struct probe *probes;
	size_t probe_cnt, probe_cap;
	struct trigger_rule rule;
};
