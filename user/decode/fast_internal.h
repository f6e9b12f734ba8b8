/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the fast decoder share:
 *
 *	fast_packets.c	reads packets, from a PSB to the end of its piece
 *	fast_events.c	what those mean that are no TNT
 *	fast_flow.c	where the code is: branches out, nodes, TNT bits
 *	fast_lost.c	going on behind code that is not known
 *	fast.c		one piece, and how it ends
 *
 * Functions that return bool return false where the piece is declined, or memory is short.
 */
#pragma once

#include <string.h>

#include "decode/fast.h"
#include "decode/graph.h"
#include "decode/timing.h"

enum {
	RETURN_STACK = 64,
	GO_ON_MAX = 64, /* nodes without a packet on end */
	BRANCHES_FIRST = 1024,
	ENDING_BYTES = 32,
};

/* The meaning of the next FUP. */
enum fup_use {
	FUP_ASYNC,    /* it begins an asynchronous event */
	FUP_POSITION, /* another packet's address */
	FUP_TX_ABORT,
};

struct fast {
	struct pieces *pieces;
	struct fast_memory *memory;
	struct branch_list *out;
	size_t out_first;
	const uint8_t *at, *end; /* packets */
	struct timing timing;
	uint64_t tsc;	     /* of the last packet that control flow took */
	uint64_t before_tsc; /* of the one before, where the last branch was the only one of its packet */
	uint64_t later_tsc;  /* of the last event: it counts from the next branch on */
	uint64_t last_ip;

	struct node *node; /* nothing of it is handed out yet; NULL: tracing is off */
	/* The node that a step led to last, mostly `node`, and the step's value. */
	struct node *reached;
	uint32_t reached_by;
	const struct graph_store *store; /* of all nodes */
	struct node nowhere; /* stands for code that is not known: an event may end it before it is needed */
	const struct code_image_set *images;
	size_t version;
	bool has_mode;
	uint64_t mode_tsc;		/* of the packet that told the next mode */
	bool next_is_64, next_has_mode; /* from the next TIP on */
	bool mode_while_off;		/* a TIP.PGE has to come */
	bool all;			/* hand out every branch */
	bool is_ending;
	bool has_moved; /* since the last event */

	/* Behind code that is not known */
	bool is_lost; /* up to the next packet that gives an address */
	/* from here on nothing is left to the reference decoder, which loses all up to the next PSB */
	bool has_lost;
	bool misses_code;    /* that is why the packet at hand does not fit: */
	uint64_t missing_ip; /* no code is known here */
	uint64_t entry_ip,
		resume_ip;    /* where the kernel was entered last, and should go back to; 0: not known */
	uint64_t keeps_until; /* the stack of returns holds if code goes on there */
	size_t lost_version;
	/* one more than the index of the last branch, where no packet has shown yet what it led to */
	size_t loose;

	struct {
		uint64_t ip;
		const struct known_branch *site; /* NULL: of another image */
	} stack[RETURN_STACK];
	unsigned int top, depth;

	enum fup_use fup_use;
	enum branch_event event; /* that FUP_POSITION is the address of; EVENT_CNT: none */
	uint64_t event_payload;
	bool in_event; /* between the FUP and the TIP of an asynchronous event at event_ip */
	bool aborting; /* it is the end of a transaction */
	uint64_t event_ip, event_tsc;

	bool odd_overflows;  /* errata SKD010, APL11, APL12: the packet that ends one may be missing */
	bool odd_cycles;     /* erratum SKD007 */
	bool odd_vm_entries; /* erratum SKD022: one that ends tracing looks like an event before it */
	bool has_limit;
	uint64_t limit_ip;
	bool no_memory, is_damaged;
	const char *why;
};

/* What to find on the way: an address, or an instruction. */
struct sought {
	bool (*is_it)(const uint8_t *bytes, size_t size); /* NULL: ip */
	uint64_t ip;
	uint64_t *ret_ip; /* where the instruction is; may be NULL */
};

/* The current time by the timing packets; 0: none. */
static inline uint64_t fast_time(const struct fast *fast)
{
	return fast->timing.has_tsc ? fast->timing.tsc : 0;
}

/* Nothing shows yet what the last branch led to. */
static inline bool fast_is_loose(const struct fast *fast)
{
	return fast->loose && fast->loose == fast->out->cnt;
}

/* An event has begun: packets that complete it have to come. */
static inline bool fast_is_in_event(const struct fast *fast)
{
	return fast->in_event || fast->fup_use != FUP_ASYNC;
}

/* ---- fast_flow.c ---- */

/* The reference decoder takes over. Always false. */
bool fast_decline(struct fast *fast, const char *why);
/* The same for a packet that does not fit the node's end; the reason is unknown code if the node has that. */
bool fast_decline_end(struct fast *fast, const struct node *node, const char *why);
/* Makes the current time of the timing packets that of the branches. */
static inline void fast_take_time(struct fast *fast)
{
	uint64_t tsc = fast_time(fast);

	if (tsc > fast->tsc)
		fast->tsc = tsc;
}

void fast_take_event_time(struct fast *fast);
/*
 * Code continues after an event. libipt shows the event's time only with a block that it returns before the
 * next packet.
 */
static inline void fast_move_on(struct fast *fast)
{
	if (fast->later_tsc > fast->tsc) {
		bool hands_out = fast->node && fast->node->known_cnt;

		fast->before_tsc = hands_out ? fast->later_tsc : fast->tsc;
		fast->tsc = fast->later_tsc;
	} else {
		fast->before_tsc = fast->tsc;
	}
	fast->later_tsc = 0;
}

/* Room for one more branch; never NULL. fast_emit_more(): where the list is full. */
struct branch *fast_emit_more(struct fast *fast);

static inline struct branch *fast_emit(struct fast *fast)
{
	struct branch_list *out = fast->out;

	return __builtin_expect(out->cnt < out->cap, 1) ? &out->items[out->cnt++] : fast_emit_more(fast);
}

static inline void fast_emit_end(struct fast *fast, const struct node *node, uint64_t to)
{
	*fast_emit(fast) = (struct branch){.tsc = fast->tsc,
					   .from = node->from,
					   .to = to,
					   .kind = node->kind,
					   .flags = node->flags,
					   .from_len = node->from_len};
}

void fast_emit_event(struct fast *fast, enum branch_event event, uint64_t ip, uint64_t payload);
void fast_push_return(struct fast *fast, const struct known_branch *site);
void fast_pass_known(struct fast *fast, const struct known_branch *known, bool all);
void fast_pass_each_known(struct fast *fast, const struct node *node, bool all);

/* All that the node holds but its end. */
static inline void fast_pass_all_known(struct fast *fast, const struct node *node, bool all)
{
	if (all ? node->known_cnt : node->kept_cnt)
		fast_pass_each_known(fast, node, all);
}

/*
 * From the first branch behind a gap on, those inside functions say nothing new; the piece's last ones say
 * when it ends.
 */
static inline void fast_choose_branches(struct fast *fast)
{
	fast->all =
		!fast->memory->finder.functions->at || fast->is_ending || fast->out->cnt == fast->out_first;
}

struct node *fast_node_at(struct fast *fast, uint64_t ip);
struct node *fast_find_place(struct fast *fast, uint64_t ip);

/* Where the node at ip is remembered. */
static inline struct fast_target *fast_target(struct fast *fast, uint64_t ip)
{
	return &fast->memory->targets[(ip ^ ip >> 9) % FAST_TARGETS];
}

/* As fast_node_at(), but the code need not be known. */
static inline struct node *fast_place_at(struct fast *fast, uint64_t ip)
{
	const struct fast_target *target = fast_target(fast, ip);

	return target->ip == ip && target->node ? target->node : fast_find_place(fast, ip);
}

bool fast_go_to(struct fast *fast, uint64_t ip);
struct node *fast_pass_go_on(struct fast *fast, struct node *node, bool all);
/* Switches to another image. False: it cannot be used. */
bool fast_use_version(struct fast *fast, size_t version);
void fast_use_64(struct fast *fast, bool is_64);
void fast_use_next_mode(struct fast *fast);
bool fast_on_tnt(struct fast *fast, uint64_t bits, unsigned int cnt);

/* ---- fast_events.c ---- */

bool fast_advance(struct fast *fast, const struct sought *sought);
bool fast_on_branch_tip(struct fast *fast, uint64_t ip);
bool fast_on_event_tip(struct fast *fast, uint64_t ip);
bool fast_on_pge(struct fast *fast, uint64_t ip);
bool fast_on_event_pgd(struct fast *fast);
bool fast_on_pgd(struct fast *fast);
bool fast_on_pgd_to(struct fast *fast, uint64_t ip);
bool fast_on_fup(struct fast *fast, uint64_t ip);
bool fast_on_overflow(struct fast *fast, bool has_ip, uint64_t ip);

/* ---- fast_lost.c ---- */

/*
 * The packet at `packet` does not fit; there were `cnt` branches before it. True: decoding continues at the
 * packet or after it, with a gap; false: the piece is declined.
 */
bool fast_lose(struct fast *fast, const uint8_t *packet, size_t cnt);
/*
 * While lost: a packet gives an address, where decoding continues if the code is known. False: out of memory,
 * or unusable code.
 */
bool fast_find(struct fast *fast, uint64_t ip);
/* A branch or an event changes the privilege level: notes where it should come back to. */
void fast_note_entry(struct fast *fast, uint64_t resume_ip, uint64_t to);
/* The piece ends in unknown code. */
bool fast_end_lost(struct fast *fast);

/* ---- fast_notes.c ---- */

/* An event of its own that has nothing to do with control flow. */
bool fast_pass_event(struct fast *fast, size_t size);
/* The FUP behind it says where. */
bool fast_pass_before_fup(struct fast *fast, size_t size, enum branch_event event);
bool fast_on_power_entry(struct fast *fast);
bool fast_on_power_exit(struct fast *fast);
bool fast_on_stopped(struct fast *fast);
bool fast_on_ptwrite(struct fast *fast);

/* ---- reading packets ---- */

static inline uint64_t fast_little_endian(const uint8_t *bytes, unsigned int cnt)
{
	uint64_t value = 0;

	memcpy(&value, bytes, sizeof(value));
	return cnt == 8 ? value : value & ((1ull << 8 * cnt) - 1);
}

/* What makes no sense as a packet is not lost, but left to the reference decoder with all of the piece. */
static inline bool fast_is_damaged(struct fast *fast, const char *why)
{
	fast->is_damaged = true;
	return fast_decline(fast, why);
}

static inline bool fast_has_bytes(struct fast *fast, size_t size)
{
	return (size_t)(fast->end - fast->at) >= size || fast_is_damaged(fast, "a packet that is cut off");
}

/* ---- fast_packets.c ---- */

bool fast_read_header(struct fast *fast);
bool fast_read_all_packets(struct fast *fast);
