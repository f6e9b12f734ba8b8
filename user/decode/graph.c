/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/graph.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "decode/code_insn.h"

enum {
	KNOWN_MAX = 64,	  /* direct branches in one node; more go on in the next */
	BYTES_A_NODE = 4, /* at least, on average */
};

void graph_init(struct graph *graph, const uint8_t *bytes, size_t size, uint64_t addr, bool is_64)
{
	*graph = (struct graph){.bytes = bytes, .size = size, .addr = addr, .is_64 = is_64};
	pthread_mutex_init(&graph->lock, NULL);
}

static size_t bucket_bytes(const struct graph *graph)
{
	return (graph->bucket_mask + 1) * sizeof(struct node *);
}

static void *map(size_t size)
{
	void *map =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

static void unmap(void *map, size_t size)
{
	if (map)
		munmap(map, size);
}

void graph_release(struct graph *graph)
{
	while (graph->known_chunks) {
		struct known_chunk *chunk = graph->known_chunks;

		graph->known_chunks = chunk->next;
		free(chunk);
	}
	unmap(graph->buckets, bucket_bytes(graph));
	unmap(graph->nodes, graph->node_max * sizeof(struct node));
	unmap(graph->steps, graph->node_max * sizeof(struct node_step));
	pthread_mutex_destroy(&graph->lock);
}

/* Addresses for as much as there can be; what is never touched costs no memory. */
static bool has_room(struct graph *graph)
{
	size_t cnt = 64;
	void *buckets;

	if (graph->buckets)
		return true;
	while (cnt < graph->size / BYTES_A_BUCKET)
		cnt *= 2;
	graph->bucket_mask = cnt - 1;
	graph->node_max = (uint32_t)(graph->size / BYTES_A_NODE) + 64;
	graph->node_cnt = 1;
	graph->nodes = graph->nodes ? graph->nodes : map(graph->node_max * sizeof(struct node));
	graph->steps = graph->steps ? graph->steps : map(graph->node_max * sizeof(struct node_step));
	if (!graph->nodes || !graph->steps)
		return false;
	buckets = map(bucket_bytes(graph));
	atomic_store_explicit(&graph->buckets, buckets, memory_order_release);
	return buckets;
}

/* ---- building a node ---- */

struct draft {
	struct graph *graph;
	struct function_finder *finder;
	struct node node;
	struct known_branch known[KNOWN_MAX];
	uint64_t at;	/* where the code is followed */
	uint64_t began; /* where the last branch led */
};

/* Where the function begins that ip is in; 0: every branch counts. */
static uint64_t function_at(struct draft *draft, uint64_t ip)
{
	struct function_finder *finder = draft->finder;
	struct decoder_function *recent = &finder->recent[(ip >> 6 ^ ip >> 14) % ARRAY_SIZE(finder->recent)];

	if (!finder->functions->at)
		return 0;
	if (ip - recent->start >= recent->end - recent->start)
		*recent = finder->functions->at(finder->functions->ctx, finder->image, ip);
	return ip - recent->start < recent->end - recent->start ? recent->start : 0;
}

static bool leaves(struct draft *draft, uint64_t from, uint64_t to)
{
	uint64_t function = function_at(draft, from);

	return !function || function != function_at(draft, to);
}

/* Code ran on from one function into the next. */
static bool crosses(struct draft *draft, uint64_t from, uint64_t to)
{
	return function_at(draft, from) != function_at(draft, to);
}

static bool has_been_at(const struct draft *draft, uint64_t ip)
{
	if (ip == draft->node.ip)
		return true;
	for (size_t i = 0; i < draft->node.known_cnt; i++)
		if (draft->known[i].to == ip)
			return true;
	return false;
}

static void stop(struct draft *draft, enum node_end end, uint64_t at)
{
	draft->node.end = (uint8_t)end;
	draft->node.from = draft->node.to = at;
}

/* False: the node ends here. */
static bool follow_direct(struct draft *draft, const struct code_insn *insn, uint64_t to)
{
	struct node *node = &draft->node;
	bool is_call = insn->kind == BRANCH_CALL;
	struct known_branch *known;

	if (has_been_at(draft, to)) {
		stop(draft, NODE_STUCK, draft->at);
		return false;
	}
	known = &draft->known[node->known_cnt++];
	*known = (struct known_branch){
		.from = draft->at,
		.to = to,
		.kind = insn->kind,
		.from_len = insn->len,
		.kept = is_call || leaves(draft, draft->at, to) || crosses(draft, draft->began, draft->at),
		.pushes = is_call && insn->rel,
	};
	node->kept_cnt += known->kept;
	if (node->known_cnt == KNOWN_MAX || !graph_covers(draft->graph, to)) {
		stop(draft, NODE_GO_ON, to);
		return false;
	}
	draft->at = draft->began = to;
	return true;
}

static void end_with(struct draft *draft, const struct code_insn *insn, uint64_t to)
{
	struct node *node = &draft->node;

	node->from = draft->at;
	node->kind = insn->kind;
	node->from_len = insn->len;
	if (insn->kind == BRANCH_COND) {
		bool crossed = crosses(draft, draft->began, draft->at);

		node->end = NODE_COND;
		node->to = to;
		/* To the next instruction, it is not to be told from one not taken. */
		if (insn->rel && (crossed || leaves(draft, draft->at, to)))
			node->kept |= NODE_KEPT_TAKEN;
		if (crossed || crosses(draft, draft->at, draft->at + insn->len))
			node->kept |= NODE_CROSSES;
	} else if (!insn->is_near) {
		node->end = NODE_FAR;
	} else {
		node->end = insn->kind == BRANCH_RETURN ? NODE_RETURN : NODE_INDIRECT;
	}
	if (insn->kind == BRANCH_JUMP)
		node->flags = BRANCH_INDIRECT;
	if (node->end == NODE_INDIRECT && insn->kind == BRANCH_CALL)
		node->call = (struct known_branch){.from = draft->at, .from_len = insn->len, .pushes = true};
}

static void follow(struct draft *draft)
{
	const struct graph *graph = draft->graph;

	for (;;) {
		size_t offset = draft->at - graph->addr;
		struct code_insn insn;
		uint64_t behind;

		if (offset >= graph->size) {
			stop(draft, NODE_GO_ON, draft->at);
			return;
		}
		code_insn_decode(&insn, graph->bytes + offset, graph->size - offset, graph->is_64);
		behind = draft->at + insn.len;
		if (!insn.len || insn.is_odd) {
			stop(draft, NODE_STUCK, draft->at);
			return;
		}
		if (insn.kind == BRANCH_NONE) {
			draft->at = behind;
			continue;
		}
		behind += (int64_t)insn.rel;
		if (!graph->is_64)
			behind = (uint32_t)behind;
		if (!insn.direct) {
			end_with(draft, &insn, behind);
			return;
		}
		if (!follow_direct(draft, &insn, behind))
			return;
	}
}

/* ---- keeping it ---- */

static bool keep_known(struct graph *graph, struct draft *draft)
{
	size_t bytes = draft->node.known_cnt * sizeof(struct known_branch);
	struct known_chunk *chunk;

	if (!bytes)
		return true;
	chunk = malloc(sizeof(*chunk) + bytes);
	if (!chunk)
		return false;
	memcpy(chunk->branches, draft->known, bytes);
	chunk->next = graph->known_chunks;
	graph->known_chunks = chunk;
	draft->node.known = chunk->branches;
	return true;
}

static struct node *insert(struct graph *graph, struct draft *draft)
{
	_Atomic(struct node *) *bucket;
	struct node *node;

	if (!has_room(graph))
		return NULL;
	node = graph_find(graph, draft->node.ip);
	if (node)
		return node; /* another thread was first */
	if (graph->node_cnt == graph->node_max || !keep_known(graph, draft))
		return NULL;
	node = &graph->nodes[graph->node_cnt++];
	bucket = &graph->buckets[graph_bucket(graph, draft->node.ip)];
	draft->node.bucket_next = *bucket;
	draft->node.is_plain = draft->node.end == NODE_COND && !draft->node.kept && !draft->node.kept_cnt;
	memcpy(node, &draft->node, sizeof(*node));
	atomic_store_explicit(bucket, node, memory_order_release);
	return node;
}

struct node *graph_make(struct graph *graph, uint64_t ip, struct function_finder *finder)
{
	struct node *node = graph_find(graph, ip);
	struct draft draft;

	if (node)
		return node;
	draft.graph = graph;
	draft.finder = finder;
	draft.node = (struct node){.ip = ip, .graph = graph};
	draft.at = draft.began = ip;
	follow(&draft);
	draft.node.first_function = function_at(&draft, ip);
	if (!crosses(&draft, draft.began, draft.node.from))
		draft.node.last_function = function_at(&draft, draft.node.from);
	pthread_mutex_lock(&graph->lock);
	node = insert(graph, &draft);
	pthread_mutex_unlock(&graph->lock);
	return node;
}
