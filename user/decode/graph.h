/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code as a graph, to follow packets through it. A node runs from an address to the next instruction that
 * takes a packet; straight code, direct jumps and direct calls are folded into it. So one bit of trace is one
 * step from node to node, and the branches in between are known in advance:
 *
 *	f:	cmp; jmp 1f	node f:	jump f+2 -> 1f, call 1f+5 -> g, ends at g+4 with jne -> 2f
 *	1:	mov; call g	taken: node 2f, not taken: node g+6
 *	g:	test; jne 2f
 *
 * A graph belongs to a section of code and serves every image and process that has it. All graphs keep their
 * nodes in one store. They grow on use, from several threads and without a lock: a thread takes the next free
 * node, fills it, and publishes it by an atomic exchange. Nodes are neither changed nor freed while the store
 * lives; only their successors by TNT bits are written later. These stay as they are then: a line that is
 * written again and again goes from one processor's cache to the other's, which takes as long as ten steps.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/decoder.h"
#include "model/branch.h"

enum node_end {
	NODE_COND,     /* a conditional jump: a TNT bit */
	NODE_RETURN,   /* a near return: a TIP, or a TNT bit */
	NODE_INDIRECT, /* an indirect near call or jump: a TIP */
	NODE_FAR,      /* system calls, interrupts, far transfers: a TIP, or the end of tracing */
	/*
	 * no packet: the code continues at `to`, in another section or node. If `to` is the node's own ip,
	 * the instruction there goes on in the section behind (decoder_cache_seam()).
	 */
	NODE_GO_ON,
	NODE_STUCK, /* unknown: a loop without a way out, or an odd instruction */
};

/* What a conditional jump says about functions. */
enum node_kept {
	/* taken, it leaves its function, or shows that code ran on into the next function */
	NODE_KEPT_TAKEN = 1,
	NODE_CROSSES = 2, /* not taken, it does not show that; the next branch must */
};

struct node;
struct graph;
struct graph_store;

/* A call or jump that takes no packet. */
struct known_branch {
	uint64_t from, to;
	uint8_t kind, from_len; /* as in struct branch */
	/* it leaves its function, or shows that code ran on into the next function */
	bool kept;
	bool pushes; /* a call that a return comes back from */
	/* leads to the node it returns to, as in struct node_step; 0: not known yet */
	_Atomic(uint32_t) back;
};

/*
 * The successors of a node that ends in a conditional jump, by TNT bit. A successor is the offset of its own
 * node_step in the store, plus its class. 0: unknown. Most steps read nothing else, so that much fits into
 * the processor's caches; the value read is the address of the next step, and says what has to be done there
 * before the node itself is read.
 */
enum step_class {
	STEP_OTHER = 0,
	STEP_PLAIN = 1,	 /* it ends in a conditional jump, and has no branch to hand out */
	STEP_RETURN = 2, /* it is a return, and has no other branch to hand out */
	STEP_CALL = 4,	 /* a direct call, and then as STEP_PLAIN */
};

struct node_step {
	_Atomic(uint32_t) next[2];
};

struct node {
	uint64_t ip;
	/* the branch that ends it, or the place where no branch does; `to` if known */
	uint64_t from, to;
	struct known_branch *known;
	uint16_t known_cnt, kept_cnt;
	uint8_t end;		       /* enum node_end */
	uint8_t kind, flags, from_len; /* of the branch at its end */
	uint8_t kept;		       /* of a conditional jump: enum node_kept */
	uint8_t step_class;	       /* enum step_class */
	struct graph *graph;
	uint32_t bucket_next; /* the index of a node; 0: none */
	uint64_t first_function,
		last_function;	  /* starts of the functions of ip and of from; 0: an indirect jump counts */
	struct known_branch call; /* of an indirect call: .back */
	uint64_t reserved[3];
};

_Static_assert(sizeof(struct node) == 128, "an index is a shift away");

struct graph {
	const uint8_t *bytes;
	uint64_t addr;
	size_t size;
	bool is_64;
	bool is_end; /* nothing is known behind it: an instruction that it cuts off is not known, either */
	struct graph_store *store;
};

/* Addresses for as much as there can be: what is never touched costs no memory. */
struct graph_store {
	struct node *nodes;	 /* [0] is unused */
	struct node_step *steps; /* of each */
	struct known_branch *known;
	_Atomic(uint32_t) *buckets; /* indices of nodes, by their address */
	uint32_t max;		    /* of nodes, and of known branches */
	uint8_t apart[64];	    /* the counters have a cache line of their own */
	_Atomic(uint32_t) node_cnt, known_cnt;
};

/* 0 or -ENOMEM with a sentence. */
int graph_store_init(struct graph_store *store);
void graph_store_release(struct graph_store *store);

/* A cache of the functions of one image. */
struct function_finder {
	const struct decoder_functions *functions;
	size_t image;
	struct decoder_function recent[64];
};

/* The node that begins at ip (inside the section), made if needed. NULL: the store is full. */
struct node *graph_make(struct graph *graph, uint64_t ip, struct function_finder *finder);

static inline uint32_t node_index(const struct node *node)
{
	return (uint32_t)(node - node->graph->store->nodes);
}

static inline struct node_step *node_step(const struct node *node)
{
	return &node->graph->store->steps[node_index(node)];
}

/* The value that leads to the node. */
static inline uint32_t node_step_to(const struct node *node)
{
	return node_index(node) * (uint32_t)sizeof(struct node_step) + node->step_class;
}

/* Remembers a successor, if both are in one section: other images may have another section there. */
static inline void node_lead(const struct node *node, unsigned int way, const struct node *next)
{
	if (next->graph == node->graph)
		atomic_store_explicit(&node_step(node)->next[way], node_step_to(next), memory_order_release);
}

/* Whether its first instruction is cut off by the end of the section. */
static inline bool node_is_cut(const struct node *node)
{
	return node->end == NODE_GO_ON && node->to == node->ip && !node->known_cnt;
}

static inline bool graph_covers(const struct graph *graph, uint64_t ip)
{
	return ip - graph->addr < graph->size;
}
