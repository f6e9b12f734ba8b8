/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One pass over the packets, each acting on the node that the code is in. What a node holds of direct branches has happened when a packet for its end is
 * read; so it is handed out then, with the time of the packet before, and the end with the time of its own.
 *
 *	packet	at the node
 *	TNT	its conditional jump, or a return to where the call came from; one node on for each bit
 *	TIP	its indirect branch
 *	TIP.PGD	its far branch, or the branch that left the filter: tracing ends
 *	FUP	an instruction on the way to its end, at which something happens: TIP and TIP.PGD that follow say what
 *	OVF	nothing is known any more up to the FUP or TIP.PGE that follows
 *
 * Anything that does not fit (no code, damaged packets, a combination that is not known here) ends it: the piece is left to the reference
 * decoder. So both agree on errors, and what is here can assume that all is well.
 */
#include "decode/fast.h"

#include <errno.h>
#include <intel-pt.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "decode/code_insn.h"
#include "decode/timing.h"

enum {
	RETURN_STACK = 64,
	TARGETS = 256,	/* a power of two */
	GO_ON_MAX = 64, /* nodes without a packet on end */
	BRANCHES_FIRST = 1024,
	ENDING_BYTES = 64,
};

/* What the next FUP is for. */
enum fup_use {
	FUP_ASYNC,    /* it begins an asynchronous event */
	FUP_POSITION, /* another packet's address */
	FUP_TX_ABORT,
};

struct fast {
	const struct pieces *pieces;
	struct function_finder finder;
	struct branch_list *out;
	size_t out_first;
	const uint8_t *at, *end; /* packets */
	struct timing timing;
	uint64_t tsc;	     /* of the last packet that control flow took */
	uint64_t before_tsc; /* of the one before, where the last branch was the only one of its packet */
	uint64_t later_tsc;  /* of the last event: it counts from the next branch on */
	uint64_t last_ip;

	struct node *node;   /* nothing of it is handed out yet; NULL: tracing is off */
	struct node nowhere; /* stands for code that is not known: an event may end it before it is needed */
	const struct code_image_set *images;
	size_t version;
	bool is_64, has_mode;
	bool next_is_64, next_has_mode; /* from the next TIP on */
	bool mode_while_off;		/* a TIP.PGE has to come */
	bool all;			/* hand out every branch */
	bool is_ending;
	bool has_moved; /* since the last event */
	size_t loose; /* one more than the index of the last branch, where no packet has shown yet what it led to */

	struct {
		uint64_t ip;
		const struct known_branch *site; /* NULL: of another image */
	} stack[RETURN_STACK];
	unsigned int top, depth;

	struct {
		uint64_t ip;
		struct node *node;
	} targets[TARGETS];

	enum fup_use fup_use;
	enum branch_event event; /* that FUP_POSITION is the address of; EVENT_CNT: none */
	uint64_t event_payload;
	bool in_event; /* between the FUP and the TIP of an asynchronous event at event_ip */
	bool aborting; /* it is the end of a transaction */
	uint64_t event_ip, event_tsc;

	bool has_limit;
	uint64_t limit_ip;
	bool no_memory;
	const char *why;
};

static bool decline(struct fast *fast, const char *why)
{
	fast->why = why;
	return false;
}

static void take_time(struct fast *fast)
{
	if (fast->timing.has_tsc && fast->timing.tsc > fast->tsc)
		fast->tsc = fast->timing.tsc;
}

/*
 * An event comes next. libipt looks at it as soon as it has taken the last branch, and then has the event's time for that, too: so has the
 * fast decoder, for the two must agree.
 */
static void take_event_time(struct fast *fast)
{
	fast->tsc = fast->before_tsc;
	take_time(fast);
	fast->before_tsc = fast->tsc;
	if (fast->has_moved && fast->loose && fast->loose == fast->out->cnt)
		fast->out->items[fast->loose - 1].tsc = fast->tsc;
	fast->has_moved = false;
}

/* Code goes on behind an event. */
static void move_on(struct fast *fast)
{
	if (fast->later_tsc > fast->tsc)
		fast->tsc = fast->before_tsc = fast->later_tsc;
	fast->later_tsc = 0;
}

/* ---- branches out ---- */

static struct branch *emit(struct fast *fast)
{
	struct branch_list *out = fast->out;

	if (out->cnt == out->cap) {
		size_t cnt = out->cap ? out->cap * 2 : BRANCHES_FIRST;

		if (array_reserve(&out->items, &out->cap, cnt, sizeof(*out->items))) {
			static _Thread_local struct branch nowhere;

			fast->no_memory = true;
			return &nowhere;
		}
	}
	return &out->items[out->cnt++];
}

static void emit_known(struct fast *fast, const struct known_branch *known)
{
	*emit(fast) = (struct branch){.tsc = fast->tsc,
				      .from = known->from,
				      .to = known->to,
				      .kind = known->kind,
				      .flags = known->flags,
				      .from_len = known->from_len};
}

static void emit_end(struct fast *fast, const struct node *node, uint64_t to)
{
	*emit(fast) = (struct branch){.tsc = fast->tsc,
				      .from = node->from,
				      .to = to,
				      .kind = node->kind,
				      .flags = node->flags,
				      .from_len = node->from_len};
}

/* Of no branch. It stands before a branch that waits to be seen leading somewhere, as libipt has it. */
static void emit_event(struct fast *fast, enum branch_event event, uint64_t ip, uint64_t payload)
{
	struct branch_list *out = fast->out;
	bool is_first = out->cnt == fast->out_first, swaps = fast->loose && fast->loose == out->cnt;

	*emit(fast) = (struct branch){
		.tsc = fast->tsc, .from = ip, .to = payload, .kind = BRANCH_EVENT, .gap = (uint8_t)event};
	if (swaps && !fast->no_memory) {
		struct branch last = out->items[out->cnt - 1];

		out->items[out->cnt - 1] = out->items[out->cnt - 2];
		out->items[out->cnt - 2] = last;
		fast->loose = out->cnt;
	}
	if (is_first)
		fast->out_first = out->cnt;
}

static void push_return(struct fast *fast, const struct known_branch *site)
{
	fast->top = (fast->top + 1) % RETURN_STACK;
	fast->stack[fast->top].ip = site->from + site->from_len;
	fast->stack[fast->top].site = site;
	if (fast->depth < RETURN_STACK)
		fast->depth++;
}

static void pass_known(struct fast *fast, const struct known_branch *known, bool all)
{
	if (all || known->kept)
		emit_known(fast, known);
	if (known->pushes)
		push_return(fast, known);
}

/* All that the node holds but its end. */
static inline void pass_all_known(struct fast *fast, const struct node *node, bool all)
{
	if (!(all ? node->known_cnt : node->kept_cnt))
		return;
	for (size_t i = 0; i < node->known_cnt; i++)
		pass_known(fast, &node->known[i], all);
}

/* From the first branch behind a gap on, those inside functions say nothing new; the piece's last ones say when it ends. */
static void choose_branches(struct fast *fast)
{
	fast->all = !fast->finder.functions->at || fast->is_ending || fast->out->cnt == fast->out_first;
}

/* ---- nodes ---- */

static struct node *look_up(struct fast *fast, uint64_t ip)
{
	struct cached_section *section = code_section_at(fast->images, ip);
	struct node *node;

	if (!section) {
		decline(fast, "code that is not known");
		return NULL;
	}
	node = graph_make(&section->graphs[fast->is_64], ip, &fast->finder);
	if (!node) {
		fast->no_memory = true;
		decline(fast, "no memory");
	}
	return node;
}

static inline struct node *node_at(struct fast *fast, uint64_t ip)
{
	size_t slot = (ip ^ ip >> 9) % TARGETS;

	if (fast->targets[slot].ip != ip || !fast->targets[slot].node) {
		fast->targets[slot].node = look_up(fast, ip);
		fast->targets[slot].ip = ip;
	}
	return fast->targets[slot].node;
}

/* The node at ip, which the other remembers. */
static struct node *resolve(struct fast *fast, const struct node *node, unsigned int way, uint64_t ip)
{
	struct node *next = node_at(fast, ip);

	if (next)
		node_lead(node, way, next);
	return next;
}

static inline struct node *follow(struct fast *fast, struct node *node, unsigned int way, uint64_t ip)
{
	struct node *next = node_next(node, way);

	return __builtin_expect(!!next, 1) ? next : resolve(fast, node, way, ip);
}

/* The same where it need not be known. */
static struct node *place_at(struct fast *fast, uint64_t ip)
{
	if (code_section_at(fast->images, ip))
		return node_at(fast, ip);
	fast->nowhere = (struct node){.ip = ip, .from = ip, .to = ip, .end = NODE_STUCK};
	return &fast->nowhere;
}

static bool go_to(struct fast *fast, uint64_t ip)
{
	fast->node = place_at(fast, ip);
	fast->loose = 0;
	return fast->node;
}

/* Passes over ends that take no packet. */
static struct node *pass_go_on(struct fast *fast, struct node *node, bool all)
{
	for (int i = 0; node->end == NODE_GO_ON; i++) {
		if (i == GO_ON_MAX) {
			decline(fast, "a long way without packets");
			return NULL;
		}
		pass_all_known(fast, node, all);
		node = node_at(fast, node->to);
		if (!node)
			return NULL;
	}
	return node;
}

static void forget_targets(struct fast *fast)
{
	memset(fast->targets, 0, sizeof(fast->targets));
	for (size_t i = 0; i < RETURN_STACK; i++)
		fast->stack[i].site = NULL;
}

static bool use_version(struct fast *fast, size_t version)
{
	const struct code_image_set *images = code_images(&fast->pieces->code, version);

	fast->version = version;
	if (images == fast->images)
		return true;
	fast->images = images;
	fast->finder.image = (size_t)(images - fast->pieces->code.sets);
	memset(fast->finder.recent, 0, sizeof(fast->finder.recent));
	forget_targets(fast);
	return !images->overlap || decline(fast, "sections of code that overlap");
}

static void use_next_mode(struct fast *fast)
{
	if (!fast->next_has_mode)
		return;
	fast->next_has_mode = false;
	fast->has_mode = true;
	if (fast->is_64 != fast->next_is_64)
		forget_targets(fast);
	fast->is_64 = fast->next_is_64;
}

/* ---- TNT ---- */

static struct node *take_return(struct fast *fast, struct node *node, bool taken)
{
	const struct known_branch *site;
	struct node *next;
	uint64_t ip;

	if (!taken || !fast->depth) {
		decline(fast, "a return without its call");
		return NULL;
	}
	ip = fast->stack[fast->top].ip;
	site = fast->stack[fast->top].site;
	fast->top = (fast->top - 1) % RETURN_STACK;
	fast->depth--;
	emit_end(fast, node, ip);
	next = site ? atomic_load_explicit(&site->back, memory_order_acquire) : NULL;
	if (next)
		return next;
	next = node_at(fast, ip);
	if (next && site && graph_covers(next->graph, site->from))
		atomic_store_explicit(&((struct known_branch *)site)->back, next, memory_order_release);
	return next;
}

static bool go_on_with_all(struct fast *fast, struct node *node, uint64_t bits, unsigned int cnt);

/* As far as conditional jumps lead through plain nodes: most of the way. Leaves *cnt bits. */
static inline struct node *take_plain(struct node *node, uint64_t *bits, unsigned int *cnt)
{
	const uint8_t *steps = (const uint8_t *)node->graph->steps;
	uint32_t at = node_step_to(node);
	uint64_t left = *bits;
	unsigned int left_cnt = *cnt;

	while (at & 1) {
		const struct node_step *step = (const struct node_step *)(steps + at - 1);
		uint32_t next = atomic_load_explicit(&step->next[left >> 63], memory_order_acquire);

		if (!next)
			break;
		at = next;
		left <<= 1;
		if (!--left_cnt)
			break;
	}
	*bits = left;
	*cnt = left_cnt;
	return &node->graph->nodes[at / sizeof(struct node_step)];
}

/* `bits`, the first one highest. */
static inline __attribute__((always_inline)) bool take_bits(struct fast *fast, uint64_t bits,
							    unsigned int cnt, bool all)
{
	struct node *node = fast->node, *next;
	bool led = false, is_first = true;

	if (node->end == NODE_GO_ON && !(node = pass_go_on(fast, node, all)))
		return false;
	pass_all_known(fast, node, all);
	fast->before_tsc = fast->tsc;
	take_time(fast);
	if (cnt > 1)
		fast->before_tsc = fast->tsc;
	for (;; is_first = false) {
		unsigned int taken;

		if (!all) {
			struct node *after = take_plain(node, &bits, &cnt);

			is_first &= after == node;
			node = after;
			led = false;
			if (!cnt)
				break;
		}
		if (!is_first) {
			if (node->end == NODE_GO_ON && !(node = pass_go_on(fast, node, all)))
				return false;
			pass_all_known(fast, node, all);
		}
		taken = bits >> 63;
		if (node->end == NODE_COND) {
			next = follow(fast, node, taken, taken ? node->to : node->from + node->from_len);
			led = taken &&
			      (all ? node->to != node->from + node->from_len : node->kept & NODE_KEPT_TAKEN);
			if (led)
				emit_end(fast, node, node->to);
			else if (!all && __builtin_expect(node->kept & NODE_CROSSES, 0) && !taken && next)
				return go_on_with_all(fast, next, bits << 1, cnt - 1);
		} else if (node->end == NODE_RETURN) {
			next = take_return(fast, node, taken);
			led = true;
		} else {
			return decline(fast, "a TNT packet for no branch");
		}
		if (!next)
			return false;
		node = next;
		bits <<= 1;
		if (!--cnt)
			break;
	}
	fast->node = node;
	fast->loose = led ? fast->out->cnt : 0;
	fast->has_moved = true;
	return true;
}

static __attribute__((noinline)) bool take_bits_all(struct fast *fast, uint64_t bits, unsigned int cnt)
{
	bool ok = take_bits(fast, bits, cnt, true);

	choose_branches(fast);
	return ok;
}

/* The next branch says which function this is. */
static bool go_on_with_all(struct fast *fast, struct node *node, uint64_t bits, unsigned int cnt)
{
	fast->node = node;
	fast->loose = 0;
	fast->all = true;
	fast->out_first = fast->out->cnt;
	return !cnt || take_bits_all(fast, bits, cnt);
}

static inline bool on_tnt(struct fast *fast, uint64_t bits, unsigned int cnt)
{
	if (!fast->node || fast->in_event || fast->next_has_mode || fast->fup_use != FUP_ASYNC)
		return decline(fast, "a TNT packet that is out of place");
	if (!cnt)
		return decline(fast, "an empty TNT packet");
	if (fast->node->end == NODE_STUCK)
		return decline(fast, "code that is not known");
	move_on(fast);
	if (__builtin_expect(fast->all, 0))
		return take_bits_all(fast, bits, cnt);
	return take_bits(fast, bits, cnt, false);
}

/* ---- positions between branches ---- */

static const uint8_t *code_at(const struct node *node, uint64_t ip, size_t *ret_size)
{
	*ret_size = node->graph->size - (ip - node->graph->addr);
	return node->graph->bytes + (ip - node->graph->addr);
}

/* What is looked for on the way: an address, or an instruction. */
struct sought {
	bool (*is_it)(const uint8_t *bytes, size_t size); /* NULL: ip */
	uint64_t ip;
	uint64_t *ret_ip; /* where the instruction is; may be NULL */
};

/* In straight code from `start` to `last`, the first bytes of instructions; *ret_ip is the place, or behind the instruction. */
static bool find_in_run(const struct node *node, uint64_t start, uint64_t last, const struct sought *sought,
			uint64_t *ret_ip)
{
	if (!sought->is_it && (sought->ip < start || sought->ip > last))
		return false;
	while (start <= last) {
		const uint8_t *bytes;
		struct code_insn insn;
		size_t size;

		if (!sought->is_it && start == sought->ip) {
			*ret_ip = start;
			return true;
		}
		if (!node->graph || !graph_covers(node->graph, start))
			return false;
		bytes = code_at(node, start, &size);
		code_insn_decode(&insn, bytes, size, node->graph->is_64);
		if (!insn.len)
			return false;
		start += insn.len;
		if (sought->is_it && sought->is_it(bytes, size)) {
			if (sought->ret_ip)
				*sought->ret_ip = start - insn.len;
			*ret_ip = start;
			return true;
		}
	}
	return false;
}

/* Goes on to what is looked for; the node is the one from there on. */
static bool advance(struct fast *fast, const struct sought *sought)
{
	struct node *node = fast->node;

	if (node && (sought->is_it || sought->ip != node->ip))
		move_on(fast);
	for (int i = 0; node && i < GO_ON_MAX; i++) {
		uint64_t start = node->ip, ip;

		for (size_t j = 0; j < node->known_cnt; j++) {
			if (find_in_run(node, start, node->known[j].from, sought, &ip))
				return go_to(fast, ip);
			pass_known(fast, &node->known[j], fast->all);
			start = node->known[j].to;
		}
		if (node->end != NODE_GO_ON || start != node->to)
			if (find_in_run(node, start, node->from, sought, &ip))
				return go_to(fast, ip);
		if (node->end != NODE_GO_ON)
			break;
		node = node_at(fast, node->to);
	}
	return !fast->why && decline(fast, "an event that is not on the way");
}

static bool advance_to(struct fast *fast, uint64_t ip)
{
	return advance(fast, &(struct sought){.ip = ip});
}

/* ---- TIP and its kin ---- */

/* Up to the branch that the next packet is about. */
static bool reach_end(struct fast *fast)
{
	struct node *node = fast->node;

	if (!node)
		return decline(fast, "a branch while tracing is off");
	move_on(fast);
	node = pass_go_on(fast, node, fast->all);
	if (!node)
		return false;
	pass_all_known(fast, node, fast->all);
	fast->node = node;
	return true;
}

static bool is_inside(const struct node *from, const struct node *to)
{
	return from->kind == BRANCH_JUMP && from->last_function && from->last_function == to->first_function;
}

/* A branch whose target the packet tells. */
static bool on_branch_tip(struct fast *fast, uint64_t ip)
{
	struct node *node, *next;

	if (!reach_end(fast))
		return false;
	node = fast->node;
	if (node->end != NODE_INDIRECT && node->end != NODE_RETURN && node->end != NODE_FAR)
		return decline(fast, "a TIP packet for no branch");
	fast->before_tsc = fast->tsc;
	take_time(fast);
	use_next_mode(fast);
	next = node_next(node, 1);
	if (!next || next->ip != ip) {
		next = place_at(fast, ip);
		if (!next)
			return false;
		node_lead(node, 1, next);
	}
	if (node->call.pushes)
		push_return(fast, &node->call);
	fast->loose = 0;
	if (fast->all || !is_inside(node, next)) {
		emit_end(fast, node, ip);
		fast->loose = fast->out->cnt;
		choose_branches(fast);
	}
	fast->node = next;
	fast->has_moved = true;
	return true;
}

/* The instruction that an asynchronous event came at. */
static bool reach_event(struct fast *fast)
{
	/* Where no block was handed out since the last event, the FUP's time is all that libipt shows. */
	if (fast->has_moved || (!fast->aborting && fast->node->ip != fast->event_ip))
		take_event_time(fast);
	else if (fast->event_tsc > fast->tsc)
		fast->tsc = fast->before_tsc = fast->event_tsc;
	return fast->aborting || advance_to(fast, fast->event_ip);
}

static bool on_event_tip(struct fast *fast, uint64_t ip)
{
	if (!reach_event(fast))
		return false;
	*emit(fast) = (struct branch){.tsc = fast->tsc,
				      .from = fast->event_ip,
				      .to = ip,
				      .kind = fast->aborting ? BRANCH_TX_ABORT : BRANCH_INTERRUPT};
	fast->in_event = fast->aborting = false;
	fast->later_tsc = fast->timing.has_tsc ? fast->timing.tsc : 0;
	use_next_mode(fast);
	return go_to(fast, ip);
}

static bool on_pge(struct fast *fast, uint64_t ip)
{
	if (fast->node || fast->in_event)
		return decline(fast, "tracing begins while it is on");
	if (!fast->has_mode)
		return decline(fast, "code of a mode that is not known");
	fast->mode_while_off = false;
	take_event_time(fast);
	if (!use_version(fast, code_version_at(&fast->pieces->code, fast->tsc)))
		return false;
	*emit(fast) = (struct branch){.tsc = fast->tsc,
				      .to = ip,
				      .kind = BRANCH_NONE,
				      .flags = BRANCH_TRACE_START,
				      .detail = (int32_t)fast->version};
	fast->loose = 0;
	return go_to(fast, ip);
}

static bool end_of_trace(struct fast *fast, uint64_t from, uint8_t kind, uint8_t from_len)
{
	*emit(fast) = (struct branch){.tsc = fast->tsc,
				      .from = from,
				      .kind = kind,
				      .from_len = from_len,
				      .flags = BRANCH_TRACE_END};
	fast->node = NULL;
	fast->in_event = fast->aborting = false;
	fast->loose = 0;
	use_next_mode(fast);
	return true;
}

/* Without an address: at a branch that leaves the privilege level. */
static bool on_pgd(struct fast *fast)
{
	const struct node *node;
	size_t size;

	take_event_time(fast);
	if (!reach_end(fast))
		return false;
	node = fast->node;
	if (node->end != NODE_FAR || *code_at(node, node->from, &size) == 0xff)
		return decline(fast, "tracing ends at no far branch");
	return end_of_trace(fast, node->from, node->kind, node->from_len);
}

/* With the address that it left the filter for: at the first branch that may lead there. */
static bool on_pgd_to(struct fast *fast, uint64_t ip)
{
	const struct node *node = fast->node;

	if (!node)
		return decline(fast, "tracing ends while it is off");
	take_event_time(fast);
	move_on(fast);
	for (int i = 0; i < GO_ON_MAX; i++) {
		uint64_t start = node->ip;

		for (size_t j = 0; j < node->known_cnt; j++) {
			const struct known_branch *known = &node->known[j];

			if (ip >= start && ip <= known->from)
				return decline(fast, "tracing ends at no branch");
			if (known->to == ip)
				return end_of_trace(fast, known->from, known->kind, known->from_len);
			pass_known(fast, known, fast->all);
			start = known->to;
		}
		if (ip >= start && ip <= node->from)
			return decline(fast, "tracing ends at no branch");
		if (node->end != NODE_GO_ON)
			break;
		node = node_at(fast, node->to);
		if (!node)
			return false;
	}
	if (node->end == NODE_COND ? node->to != ip : node->end > NODE_FAR)
		return decline(fast, "tracing ends at no branch");
	return end_of_trace(fast, node->from, node->kind, node->from_len);
}

static bool on_fup(struct fast *fast, uint64_t ip)
{
	enum fup_use use = fast->fup_use;

	fast->fup_use = FUP_ASYNC;
	if (!fast->node || fast->in_event || fast->next_has_mode)
		return decline(fast, "a FUP packet that belongs to nothing");
	fast->in_event = use != FUP_POSITION;
	fast->aborting = use == FUP_TX_ABORT;
	fast->event_ip = ip;
	fast->event_tsc = fast->timing.has_tsc ? fast->timing.tsc : 0;
	if (use == FUP_ASYNC)
		return true; /* its time is that of the TIP */
	take_event_time(fast);
	if (!advance_to(fast, ip))
		return false;
	if (use == FUP_POSITION && fast->event != EVENT_CNT)
		emit_event(fast, fast->event, ip, fast->event_payload);
	return true;
}

/* ---- overflow ---- */

static bool on_overflow(struct fast *fast, bool has_ip, uint64_t ip)
{
	/* What the last branch led to is not known any more. */
	if (fast->loose && fast->loose == fast->out->cnt)
		fast->out->cnt--;
	fast->loose = 0;
	*emit(fast) = (struct branch){
		.tsc = fast->tsc, .to = has_ip ? ip : 0, .kind = BRANCH_GAP, .gap = GAP_OVERFLOW};
	fast->out_first = fast->out->cnt;
	fast->all = true;
	fast->node = NULL;
	if (!has_ip)
		return true;
	fast->later_tsc = fast->timing.has_tsc ? fast->timing.tsc : 0;
	return go_to(fast, ip);
}

/* ---- packets ---- */

static uint64_t little_endian(const uint8_t *bytes, unsigned int cnt)
{
	uint64_t value = 0;

	memcpy(&value, bytes, sizeof(value));
	return cnt == 8 ? value : value & ((1ull << 8 * cnt) - 1);
}

static bool has_bytes(struct fast *fast, size_t size)
{
	return (size_t)(fast->end - fast->at) >= size || decline(fast, "a packet that is cut off");
}

/* The packet's bytes, and its address. *ret_has_ip is false where it is suppressed. */
static bool read_ip(struct fast *fast, bool *ret_has_ip, uint64_t *ret_ip)
{
	static const uint8_t sizes[8] = {0, 2, 4, 6, 6, 0xff, 8, 0xff};
	unsigned int compression = *fast->at >> 5, size = sizes[compression];
	uint64_t value, mask;

	if (size == 0xff)
		return decline(fast, "an address that cannot be read");
	if (!has_bytes(fast, 1 + size))
		return false;
	value = little_endian(fast->at + 1, size);
	fast->at += 1 + size;
	*ret_has_ip = size;
	if (!size)
		return true;
	mask = size == 8 ? ~0ull : (1ull << 8 * size) - 1;
	if (compression == 3)
		value = (uint64_t)((int64_t)(value << 16) >> 16);
	else
		value |= fast->last_ip & ~mask;
	*ret_ip = fast->last_ip = value;
	return true;
}

static bool on_tip(struct fast *fast)
{
	bool has_ip;
	uint64_t ip;

	if (!read_ip(fast, &has_ip, &ip))
		return false;
	if (!has_ip || fast->fup_use != FUP_ASYNC)
		return decline(fast, "a TIP packet that is out of place");
	return fast->in_event ? on_event_tip(fast, ip) : on_branch_tip(fast, ip);
}

static bool on_ip_packet(struct fast *fast, uint8_t opcode)
{
	bool has_ip;
	uint64_t ip;

	if (!read_ip(fast, &has_ip, &ip))
		return false;
	if (opcode != 0x01 && !has_ip)
		return decline(fast, "a packet without its address");
	if (opcode == 0x1d)
		return on_fup(fast, ip);
	if (fast->fup_use != FUP_ASYNC)
		return decline(fast, "a FUP packet is missing");
	if (opcode == 0x11)
		return on_pge(fast, ip);
	if (fast->next_has_mode)
		return decline(fast, "tracing ends in place of a branch to another mode");
	if (fast->in_event)
		return reach_event(fast) && end_of_trace(fast, fast->event_ip, BRANCH_INTERRUPT, 0);
	return has_ip ? on_pgd_to(fast, ip) : on_pgd(fast);
}

static bool on_cyc(struct fast *fast)
{
	const uint8_t *at = fast->at;
	uint64_t value = *at >> 3;
	unsigned int shift = 5;
	bool more = *at++ & 4;

	while (more) {
		if (at == fast->end)
			return decline(fast, "a packet that is cut off");
		if (shift > 54)
			return decline(fast, "a CYC packet that is too long");
		value |= (uint64_t)(*at >> 1) << shift;
		shift += 7;
		more = *at++ & 1;
	}
	fast->at = at;
	return timing_cyc(&fast->timing, value) || decline(fast, "a CYC packet that makes no sense");
}

static bool on_mode(struct fast *fast, bool in_header)
{
	uint8_t mode;

	if (!has_bytes(fast, 2))
		return false;
	mode = fast->at[1];
	fast->at += 2;
	switch (mode >> 5) {
	case 0: /* MODE.Exec: CS.L, CS.D */
		if ((mode & 3) != 1 && (mode & 3) != 2)
			return decline(fast, "16-bit code");
		fast->next_has_mode = true;
		fast->mode_while_off = !in_header && !fast->node;
		fast->next_is_64 = mode & 1;
		if (in_header || !fast->node)
			use_next_mode(fast);
		return true;
	case 1: /* MODE.TSX: in a transaction, aborted */
		if (in_header || !fast->node)
			return true;
		if (fast->in_event || fast->fup_use != FUP_ASYNC)
			return decline(fast, "a transaction within an event");
		fast->fup_use = mode & 2 ? FUP_TX_ABORT : FUP_POSITION;
		fast->event = EVENT_CNT;
		return true;
	default:
		return decline(fast, "a MODE packet that is not known");
	}
}

/* TSC, MTC, MODE */
static bool on_19(struct fast *fast, bool in_header)
{
	switch (*fast->at) {
	case 0x19:
		if (!has_bytes(fast, 8))
			return false;
		timing_tsc(&fast->timing, little_endian(fast->at + 1, 7), in_header);
		fast->at += 8;
		return true;
	case 0x59:
		if (!has_bytes(fast, 2))
			return false;
		fast->at += 2;
		return timing_mtc(&fast->timing, fast->at[-1]) ||
		       decline(fast, "an MTC packet that makes no sense");
	case 0x99:
		return on_mode(fast, in_header);
	default:
		return decline(fast, "a packet that is not known");
	}
}

static bool on_tma(struct fast *fast)
{
	if (!has_bytes(fast, 7))
		return false;
	/* CTC, a byte that is 0, and 9 bits of the fast counter */
	fast->at += 7;
	return (!fast->at[-3] && !(fast->at[-1] & 0xfe) &&
		timing_tma(&fast->timing, (uint32_t)little_endian(fast->at - 5, 2),
			   (uint32_t)little_endian(fast->at - 2, 2))) ||
	       decline(fast, "a TMA packet that makes no sense");
}

static bool on_cbr(struct fast *fast, bool in_header)
{
	if (!has_bytes(fast, 4))
		return false;
	fast->at += 4;
	if (!timing_cbr(&fast->timing, fast->at[-2], in_header))
		return decline(fast, "a CBR packet that makes no sense");
	if (in_header)
		return true;
	take_event_time(fast);
	emit_event(fast, EVENT_FREQUENCY, 0, fast->at[-2]);
	return true;
}

/* An event of its own that has nothing to do with control flow. */
static bool pass_event(struct fast *fast, size_t size)
{
	if (!has_bytes(fast, size))
		return false;
	fast->at += size;
	if (fast->in_event || fast->fup_use != FUP_ASYNC)
		return decline(fast, "an event within an event");
	take_event_time(fast);
	return true;
}

static bool on_power_entry(struct fast *fast)
{
	if (!pass_event(fast, 4))
		return false;
	emit_event(fast, EVENT_POWER_ENTRY, 0, fast->at[-1]);
	return true;
}

static bool on_power_exit(struct fast *fast)
{
	if (!pass_event(fast, 7))
		return false;
	/* Wake reasons: bit 0, an interrupt; bit 2, a store; bit 3, the hardware. */
	emit_event(fast, EVENT_POWER_EXIT, 0,
		   fast->at[-5] | (fast->at[-4] & 1) << 8 | (fast->at[-4] & 0xc) << 7);
	return true;
}

static bool on_stopped(struct fast *fast)
{
	if (!pass_event(fast, 2))
		return false;
	emit_event(fast, EVENT_STOPPED, 0, 0);
	return true;
}

/* The FUP behind it says where. */
static bool pass_before_fup(struct fast *fast, size_t size, enum branch_event event)
{
	if (!has_bytes(fast, size))
		return false;
	fast->at += size;
	if (fast->in_event || fast->fup_use != FUP_ASYNC || !fast->node)
		return decline(fast, "an event that is out of place");
	fast->fup_use = FUP_POSITION;
	fast->event = event;
	fast->event_payload = 0;
	if (size > 2)
		fast->event_payload = little_endian(fast->at - (size - 2), (unsigned int)size - 2);
	return true;
}

static bool on_ptwrite(struct fast *fast)
{
	uint8_t opcode = fast->at[1];
	size_t size = 2 + (opcode & 0x20 ? 8 : 4);
	uint64_t payload, ip;

	if (opcode & 0x40)
		return decline(fast, "a PTW packet that cannot be read");
	if (opcode & 0x80)
		return pass_before_fup(fast, size, EVENT_PTWRITE);
	if (!has_bytes(fast, size))
		return false;
	fast->at += size;
	if (!fast->node || fast->in_event || fast->fup_use != FUP_ASYNC)
		return decline(fast, "a PTW packet that is out of place");
	payload = little_endian(fast->at - (size - 2), (unsigned int)size - 2);
	take_event_time(fast);
	if (!advance(fast, &(struct sought){.is_it = code_insn_is_ptwrite, .ret_ip = &ip}))
		return false;
	emit_event(fast, EVENT_PTWRITE, ip, payload);
	return true;
}

static bool on_pip(struct fast *fast, bool in_header)
{
	if (!has_bytes(fast, 8))
		return false;
	fast->at += 8;
	if (in_header || !fast->node)
		return true;
	if (fast->in_event || fast->fup_use != FUP_ASYNC)
		return decline(fast, "another address space within an event");
	take_event_time(fast);
	return advance(fast, &(struct sought){.is_it = code_insn_is_mov_cr3});
}

static bool on_tnt64(struct fast *fast)
{
	uint64_t payload;
	unsigned int cnt;

	if (!has_bytes(fast, 8))
		return false;
	payload = little_endian(fast->at + 2, 6);
	fast->at += 8;
	if (payload < 2)
		return decline(fast, "an empty TNT packet");
	cnt = 63 - (unsigned int)__builtin_clzll(payload);
	return on_tnt(fast, payload << (64 - cnt), cnt);
}

/* A TNT packet, and those right behind it, which have the same time. */
static bool on_tnt8(struct fast *fast, const uint8_t *end)
{
	const uint8_t *at = fast->at;
	uint64_t bits = 0;
	unsigned int sum = 0;

	do {
		unsigned int cnt = 31 - (unsigned int)__builtin_clz(*at) - 1;

		bits = bits << cnt | (*at >> 1 & ((1u << cnt) - 1));
		sum += cnt;
		at++;
	} while (at < end && !(*at & 1) && *at > 2 && sum <= 64 - 6);
	fast->at = at;
	return on_tnt(fast, bits << (64 - sum), sum);
}

/* After an OVF, timing packets may stand before the FUP that ends it. */
static bool on_ovf(struct fast *fast)
{
	bool has_ip = false, has_fup = false, was_on, has_moved = fast->has_moved;
	uint64_t ip = 0;

	if (fast->in_event || fast->fup_use != FUP_ASYNC)
		return decline(fast, "an overflow within an event");
	was_on = fast->node;
	take_event_time(fast);
	fast->at += 2;
	fast->last_ip = 0;
	timing_overflow(&fast->timing);
	while (fast->at < fast->end && !has_fup) {
		uint8_t byte = *fast->at;
		bool ok;

		if (!byte) {
			fast->at++;
			ok = true;
		} else if ((byte & 3) == 3) {
			ok = on_cyc(fast);
		} else if (byte == 0x19 || byte == 0x59) {
			ok = on_19(fast, false);
		} else if (byte == 0x02 && fast->end - fast->at > 1 && fast->at[1] == 0x73) {
			ok = on_tma(fast);
		} else if ((byte & 0x1f) == 0x1d) {
			ok = read_ip(fast, &has_ip, &ip);
			if (ok && !has_ip)
				return decline(fast, "an overflow that ends nowhere");
			has_fup = true;
		} else {
			break;
		}
		if (!ok)
			return false;
	}
	/* The FUP belongs to the event, and the time in between; libipt notices as it hands out a block. */
	if (was_on && has_ip && has_moved)
		take_event_time(fast);
	return on_overflow(fast, has_ip, ip);
}

/* 02 xx */
static bool on_extended(struct fast *fast, bool in_header)
{
	if (!has_bytes(fast, 2))
		return false;
	switch (fast->at[1]) {
	case 0x73:
		return on_tma(fast);
	case 0x03:
		return on_cbr(fast, in_header);
	case 0x43:
		return on_pip(fast, in_header);
	case 0xc8: /* VMCS */
		if (!in_header)
			return decline(fast, "a VMCS packet");
		if (!has_bytes(fast, 7))
			return false;
		fast->at += 7;
		return true;
	}
	if (in_header)
		return decline(fast, "a packet in a PSB+ that does not belong there");
	switch (fast->at[1]) {
	case 0xa3:
		return on_tnt64(fast);
	case 0xf3:
		return on_ovf(fast);
	case 0x83: /* TraceStop */
		return fast->node ? decline(fast, "tracing stops while it is on") : pass_event(fast, 2);
	case 0x22: /* PWRE */
		return on_power_entry(fast);
	case 0xa2: /* PWRX */
		return on_power_exit(fast);
	case 0x62: /* EXSTOP */
		return on_stopped(fast);
	case 0xe2: /* EXSTOP with a FUP */
		return pass_before_fup(fast, 2, EVENT_STOPPED);
	case 0xc2: /* MWAIT */
		return pass_before_fup(fast, 10, EVENT_MWAIT);
	case 0xc3: /* MNT */
		if (!has_bytes(fast, 11))
			return false;
		return fast->at[2] == 0x88 ? pass_event(fast, 11)
					   : decline(fast, "a packet that is not known");
	default:
		if ((fast->at[1] & 0x1f) == 0x12)
			return on_ptwrite(fast);
		return decline(fast, "a packet that is not known");
	}
}

/* From the PSB to its PSBEND. */
static bool read_header(struct fast *fast)
{
	bool has_ip = false;
	uint64_t ip = 0;

	fast->at += PSB_BYTES;
	while (fast->at < fast->end) {
		uint8_t byte = *fast->at;
		bool ok;

		if (!byte) {
			fast->at++;
			ok = true;
		} else if (byte == 0x02) {
			if (fast->end - fast->at > 1 && fast->at[1] == 0x23) {
				fast->at += 2;
				fast->before_tsc = fast->tsc;
				take_event_time(fast);
				if (has_ip && !fast->has_mode)
					return decline(fast, "code of a mode that is not known");
				return !has_ip || go_to(fast, ip);
			}
			ok = on_extended(fast, true);
		} else if ((byte & 3) == 3) {
			ok = on_cyc(fast);
		} else if ((byte & 0x1f) == 0x19) {
			ok = on_19(fast, true);
		} else if ((byte & 0x1f) == 0x1d) {
			ok = read_ip(fast, &has_ip, &ip);
			if (ok && !has_ip)
				return decline(fast, "a PSB+ that is nowhere");
		} else {
			return decline(fast, "a packet in a PSB+ that does not belong there");
		}
		if (!ok)
			return false;
	}
	return decline(fast, "a PSB+ that is cut off");
}

/* Those that begin before `end`. */
static bool read_packets(struct fast *fast, const uint8_t *end)
{
	while (fast->at < end) {
		uint8_t byte = *fast->at;
		bool ok = true;

		if (!(byte & 1)) {
			if (byte > 2) {
				ok = on_tnt8(fast, end);
			} else if (byte) {
				ok = on_extended(fast, false);
			} else {
				fast->at++;
			}
		} else if ((byte & 3) == 3) {
			ok = on_cyc(fast);
		} else {
			switch (byte & 0x1f) {
			case 0x0d:
				ok = on_tip(fast);
				break;
			case 0x01:
			case 0x11:
			case 0x1d:
				ok = on_ip_packet(fast, byte & 0x1f);
				break;
			case 0x19:
				ok = on_19(fast, false);
				break;
			default:
				ok = decline(fast, "a packet that is not known");
			}
		}
		if (!ok)
			return false;
	}
	return true;
}

static bool read_all_packets(struct fast *fast)
{
	if (fast->end - fast->at > ENDING_BYTES && !read_packets(fast, fast->end - ENDING_BYTES))
		return false;
	fast->is_ending = true;
	choose_branches(fast);
	return read_packets(fast, fast->end);
}

/* ---- the end of the piece ---- */

static bool is_limit(const struct fast *fast, uint64_t start, uint64_t last)
{
	return fast->has_limit && fast->limit_ip >= start && fast->limit_ip <= last;
}

/* Behind the last packet, as far as the code tells by itself, or the next piece begins. */
static bool walk_tail(struct fast *fast)
{
	const struct node *node = fast->node;

	if (fast->in_event || fast->fup_use != FUP_ASYNC || fast->next_has_mode || fast->mode_while_off)
		return decline(fast, "an event that is cut off");
	if (node == &fast->nowhere)
		return decline(fast, "code that is not known");
	move_on(fast);
	for (int i = 0; node && i < GO_ON_MAX; i++) {
		uint64_t start = node->ip;

		for (size_t j = 0; j < node->known_cnt; j++) {
			if (is_limit(fast, start, node->known[j].from))
				return true;
			pass_known(fast, &node->known[j], fast->all);
			start = node->known[j].to;
		}
		if (node->end != NODE_GO_ON && (is_limit(fast, start, node->from) || node->end != NODE_STUCK))
			return true;
		if (node->end == NODE_STUCK)
			break;
		if (start < node->to && is_limit(fast, start, node->to - 1))
			return true;
		node = node_at(fast, node->to);
	}
	return !fast->node || decline(fast, "a loop without packets");
}

int fast_decode(struct pieces *pieces, size_t index, struct branch_list *branches, const char **ret_why)
{
	const struct piece *piece = &pieces->items[index];
	struct fast fast = {
		.pieces = pieces,
		.finder = {.functions = &pieces->config->functions},
		.out = branches,
		.out_first = branches->cnt,
		.at = pieces_bytes(pieces, index),
		.tsc = piece->header.tsc,
		.is_64 = true,
		.all = true,
	};
	size_t cnt = branches->cnt;
	struct pt_config config;

	fast.end = fast.at + (piece->end - piece->begin);
	pieces_setup(pieces, index, &config);
	timing_init(&fast.timing, &config);
	fast.has_limit = pieces_limit(pieces, index, &fast.limit_ip);
	if (use_version(&fast, piece->version) && read_header(&fast) && read_all_packets(&fast) &&
	    walk_tail(&fast) && !fast.no_memory)
		return 0;
	branches->cnt = cnt;
	if (fast.no_memory)
		return fail(-ENOMEM, "no memory for branches");
	*ret_why = fast.why;
	return 1;
}
