/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/graph.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/error.h"
#include "decode/code_insn.h"

enum {
	KNOWN_MAX = 64,	     /* direct branches in one node; more go on in the next */
	NODES_MAX = 1 << 24, /* a compiler needs 160,000 */
	NODES_LEAST = 1 << 16,
	BUCKETS = 1 << 20,
	HUGE_PAGE = 2 << 20,
};

static void *map(size_t size)
{
	char *map =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	/* Large graphs need few entries of the TLB, and small ones little memory. */
	if (size > HUGE_PAGE)
		madvise(map + HUGE_PAGE, size - HUGE_PAGE, MADV_HUGEPAGE);
	return map;
}

static void unmap(void *map, size_t size)
{
	if (map)
		munmap(map, size);
}

void graph_store_release(struct graph_store *store)
{
	unmap(store->nodes, store->max * sizeof(*store->nodes));
	unmap(store->steps, store->max * sizeof(*store->steps));
	unmap(store->known, store->max * sizeof(*store->known));
	unmap(store->buckets, BUCKETS * sizeof(*store->buckets));
	*store = (struct graph_store){0};
}

int graph_store_init(struct graph_store *store)
{
	for (uint32_t max = NODES_MAX; max >= NODES_LEAST; max /= 2) {
		*store = (struct graph_store){.max = max, .node_cnt = 1};
		store->nodes = map(max * sizeof(*store->nodes));
		store->steps = map(max * sizeof(*store->steps));
		store->known = map(max * sizeof(*store->known));
		store->buckets = map(BUCKETS * sizeof(*store->buckets));
		if (store->nodes && store->steps && store->known && store->buckets)
			return 0;
		graph_store_release(store);
	}
	return fail(-ENOMEM, "no memory for the graph of the code");
}

/* The first of `cnt` items in a row; `max`: there are none left. */
static uint32_t take(_Atomic(uint32_t) *taken, uint32_t cnt, uint32_t max)
{
	uint32_t first = atomic_load_explicit(taken, memory_order_relaxed);

	do {
		if (max - first < cnt)
			return max;
	} while (!atomic_compare_exchange_weak_explicit(taken, &first, first + cnt, memory_order_relaxed,
							memory_order_relaxed));
	return first;
}

static _Atomic(uint32_t) *bucket_of(const struct graph_store *store, uint64_t ip)
{
	return &store->buckets[(ip >> 3 ^ ip >> 23) % BUCKETS];
}

/* The node that begins at ip, among those of its bucket, or NULL. */
static struct node *find(const struct graph *graph, uint32_t first, uint64_t ip)
{
	for (uint32_t i = first; i; i = graph->store->nodes[i].bucket_next)
		if (graph->store->nodes[i].ip == ip && graph->store->nodes[i].graph == graph)
			return &graph->store->nodes[i];
	return NULL;
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
		if (!insn.len && !graph->is_end && graph->size - offset < CODE_INSN_MAX) {
			stop(draft, NODE_GO_ON, draft->at);
			return;
		}
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

static bool keep_known(struct graph_store *store, struct draft *draft)
{
	uint32_t cnt = draft->node.known_cnt, first;

	if (!cnt)
		return true;
	first = take(&store->known_cnt, cnt, store->max);
	if (first == store->max)
		return false;
	draft->node.known = &store->known[first];
	memcpy(draft->node.known, draft->known, cnt * sizeof(*draft->known));
	return true;
}

static enum step_class classify(const struct node *node)
{
	if (node->end == NODE_RETURN && !node->kept_cnt)
		return STEP_RETURN;
	if (node->end != NODE_COND || node->kept)
		return STEP_OTHER;
	if (!node->kept_cnt)
		return STEP_PLAIN;
	return node->known_cnt == 1 && node->known->pushes ? STEP_CALL : STEP_OTHER;
}

/* Where another thread is first, the node taken for it is lost. */
static struct node *insert(struct graph *graph, struct draft *draft)
{
	struct graph_store *store = graph->store;
	_Atomic(uint32_t) *bucket = bucket_of(store, draft->node.ip);
	uint32_t first = atomic_load_explicit(bucket, memory_order_acquire);
	struct node *node = find(graph, first, draft->node.ip);
	uint32_t index;

	if (node)
		return node;
	index = take(&store->node_cnt, 1, store->max);
	if (index == store->max || !keep_known(store, draft))
		return NULL;
	draft->node.step_class = (uint8_t)classify(&draft->node);
	store->nodes[index] = draft->node;
	/* A page that is read before it is written takes two faults. */
	atomic_store_explicit(&store->steps[index].next[0], 0, memory_order_relaxed);
	for (; !node; node = find(graph, first, draft->node.ip)) {
		store->nodes[index].bucket_next = first;
		if (atomic_compare_exchange_weak_explicit(bucket, &first, index, memory_order_acq_rel,
							  memory_order_acquire))
			return &store->nodes[index];
	}
	return node;
}

struct node *graph_make(struct graph *graph, uint64_t ip, struct function_finder *finder)
{
	uint32_t first = atomic_load_explicit(bucket_of(graph->store, ip), memory_order_acquire);
	struct node *node = find(graph, first, ip);
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
	return insert(graph, &draft);
}
