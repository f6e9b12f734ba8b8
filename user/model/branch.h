/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A branch: one control-flow event of one thread, as decoders pass it to the call-stack engine. The kinds are
 * perf's branch flags (tools/perf/util/event.h, PERF_IP_FLAG_*), so other sources of branches fit, too.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum branch_kind {
	BRANCH_NONE, /* only the start or end of tracing (see flags) */
	BRANCH_CALL,
	BRANCH_RETURN,
	BRANCH_JUMP,	  /* unconditional, direct or indirect */
	BRANCH_COND,	  /* a conditional jump that was taken */
	BRANCH_SYSCALL,	  /* syscall, sysenter, int n */
	BRANCH_SYSRET,	  /* sysret, sysexit, iret */
	BRANCH_INTERRUPT, /* asynchronous: interrupt, signal, fault */
	BRANCH_TX_ABORT,
	/*
	 * not a branch: another event in the trace. `gap` is its enum branch_event, `to` its payload, `from`
	 * its address or 0
	 */
	BRANCH_EVENT,
	BRANCH_GAP, /* branches are missing here: `gap` says why; from/to are 0 if unknown */
	BRANCH_KIND_CNT,
};

enum branch_flags {
	BRANCH_TRACE_START = 1u << 0, /* tracing starts at `to`; `from` is 0 */
	BRANCH_TRACE_END = 1u << 1,   /* tracing stops after `from`; `to` is 0 */
	BRANCH_INDIRECT = 1u << 2,    /* a jump whose target is not in the instruction */
};

enum branch_gap {
	GAP_NONE,
	GAP_OVERFLOW, /* the processor (or ring) lost packets */
	GAP_NO_CODE,  /* no code bytes known at `from` */
	/* packets and code disagree, or packets are damaged; `detail` is the decoder's error code */
	GAP_BAD_TRACE,
	GAP_SNAPSHOT, /* one snapshot ends here, the next begins */
	GAP_CNT,
};

enum branch_event {
	EVENT_PTWRITE,	   /* the program wrote `to` into the trace */
	EVENT_POWER_ENTRY, /* C-state and sub C-state, 4 bits each */
	/*
	 * current and deepest C-state, 4 bits each; bits 8 to 10: woken by an interrupt, a store, the
	 * hardware
	 */
	EVENT_POWER_EXIT,
	EVENT_STOPPED,	 /* the processor's clock stopped */
	EVENT_MWAIT,	 /* hints; extensions from bit 32 */
	EVENT_FREQUENCY, /* the ratio of core and bus clock */
	EVENT_CNT,
};

/*
 * A branch that starts or ends tracing has both a kind and a flag, as in perf. With user-only tracing a
 * system call is {BRANCH_SYSCALL, BRANCH_TRACE_END, from = the syscall instruction}; its return is
 * {BRANCH_NONE, BRANCH_TRACE_START, to = the next user instruction}. A signal is {BRANCH_INTERRUPT,
 * BRANCH_TRACE_END, from = the first instruction that was not executed}.
 */
struct branch {
	uint64_t tsc;  /* time of the last timing packet before the branch; monotonic within a thread */
	uint64_t from; /* address of the branch instruction */
	uint64_t to;   /* address of the next instruction executed */
	uint8_t kind;
	uint8_t flags;
	uint8_t gap;
	/* size of the branch instruction, 0 if unknown; from + from_len is a call's return address */
	uint8_t from_len;
	/* of a gap: see enum branch_gap; with BRANCH_TRACE_START: the code version (decode/decoder.h) */
	int32_t detail;
};

_Static_assert(sizeof(struct branch) == 32, "branches are kept by the million");

struct branch_list {
	struct branch *items;
	size_t cnt, cap;
};

void branch_list_release(struct branch_list *list);

/* "call", "return", ...; "gap" for BRANCH_GAP. */
const char *branch_kind_to_str(enum branch_kind kind);
const char *branch_gap_to_str(enum branch_gap gap);

/* "ptwrite", "power entry", ... */
const char *branch_event_to_str(enum branch_event event);

/* The gap as text: "[gap: overflow]", with the decoder's error code if there is one. As below. */
char *branch_gap_text(const struct branch *branch);

/* The event as text: "[ptwrite: 0x2a]". The caller frees it. NULL: out of memory. */
char *branch_event_text(const struct branch *branch);
