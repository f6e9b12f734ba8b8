/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Following the graph. Most of the time goes into take_steps().
 */
#include "decode/fast_internal.h"

#include <string.h>

#include "base/array.h"

bool fast_decline(struct fast *fast, const char *why)
{
	fast->why = why;
	return false;
}

bool fast_decline_end(struct fast *fast, const struct node *node, const char *why)
{
	if (node == &fast->nowhere) {
		fast->misses_code = true;
		fast->missing_ip = node->ip;
	}
	return fast_decline(fast, why);
}

/*
 * An event comes next. libipt looks at it as soon as it has taken the last branch, and then has the event's
 * time for that, too: so has the fast decoder, for the two must agree.
 */
void fast_take_event_time(struct fast *fast)
{
	fast->later_tsc = 0;
	fast->tsc = fast->before_tsc;
	fast_take_time(fast);
	fast->before_tsc = fast->tsc;
	if (fast->has_moved && fast_is_loose(fast))
		fast->out->items[fast->loose - 1].tsc = fast->tsc;
	fast->has_moved = false;
}

/* ---- branches out ---- */

struct branch *fast_emit_more(struct fast *fast)
{
	struct branch_list *out = fast->out;
	size_t cnt = out->cap ? out->cap * 2 : BRANCHES_FIRST;

	if (array_reserve(&out->items, &out->cap, cnt, sizeof(*out->items))) {
		static _Thread_local struct branch nowhere;

		fast->no_memory = true;
		return &nowhere;
	}
	return &out->items[out->cnt++];
}

static void emit_known(struct fast *fast, const struct known_branch *known)
{
	*fast_emit(fast) = (struct branch){.tsc = fast->tsc,
					   .from = known->from,
					   .to = known->to,
					   .kind = known->kind,
					   .from_len = known->from_len};
}

/* Of no branch. It stands before a branch that waits to be seen leading somewhere, as libipt has it. */
void fast_emit_event(struct fast *fast, enum branch_event event, uint64_t ip, uint64_t payload)
{
	struct branch_list *out = fast->out;
	bool is_first = out->cnt == fast->out_first, swaps = fast_is_loose(fast);

	*fast_emit(fast) = (struct branch){
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

void fast_push_return(struct fast *fast, const struct known_branch *site)
{
	fast->top = (fast->top + 1) % RETURN_STACK;
	fast->stack[fast->top].ip = site->from + site->from_len;
	fast->stack[fast->top].site = site;
	if (fast->depth < RETURN_STACK)
		fast->depth++;
}

void fast_pass_known(struct fast *fast, const struct known_branch *known, bool all)
{
	if (all || known->kept)
		emit_known(fast, known);
	if (known->pushes)
		fast_push_return(fast, known);
}

void fast_pass_each_known(struct fast *fast, const struct node *node, bool all)
{
	for (size_t i = 0; i < node->known_cnt; i++)
		fast_pass_known(fast, &node->known[i], all);
}

/* ---- nodes ---- */

/* The instruction at ip begins in this section and goes on behind it. */
static struct node *look_up_cut(struct fast *fast, const struct cached_section *section, uint64_t ip)
{
	const struct cached_section *behind = code_section_at(fast->images, section->addr + section->size);
	struct seam *seam = decoder_cache_seam(fast->pieces->code.config->cache, section, behind);
	struct node *node =
		seam ? graph_make(&seam->graphs[fast->memory->is_64], ip, &fast->memory->finder) : NULL;

	if (!node)
		fast_decline(fast, "no room for the graph of the code");
	return node;
}

static struct node *look_up(struct fast *fast, uint64_t ip)
{
	struct cached_section *section = code_section_at(fast->images, ip);
	struct node *node;

	if (!fast->memory->is_64 && ip > UINT32_MAX) {
		fast->is_damaged = true;
		fast_decline(fast, "32-bit code beyond its addresses");
		return NULL;
	}
	if (!section) {
		fast->misses_code = true;
		fast->missing_ip = ip;
		fast_decline(fast, "code that is not known");
		return NULL;
	}
	node = graph_make(&section->graphs[fast->memory->is_64], ip, &fast->memory->finder);
	if (node && node_is_cut(node))
		return look_up_cut(fast, section, ip);
	if (!node)
		fast_decline(fast, "no room for the graph of the code");
	return node;
}

struct node *fast_node_at(struct fast *fast, uint64_t ip)
{
	struct fast_target *target = fast_target(fast, ip);

	if (target->ip != ip || !target->node)
		*target = (struct fast_target){ip, look_up(fast, ip)};
	return target->node;
}

/* The node at ip, which the other remembers, or `nowhere`. */
static struct node *resolve(struct fast *fast, const struct node *node, unsigned int way, uint64_t ip)
{
	struct node *next = fast_place_at(fast, ip);

	if (next)
		node_lead(node, way, next);
	return next;
}

/* The value that leads to the node. Mostly it is known already, so that no step waits for the node itself. */
static inline uint32_t step_to(const struct fast *fast, const struct node *node)
{
	return fast->reached == node ? fast->reached_by : node_step_to(node);
}

static inline struct node *follow(struct fast *fast, const struct node *node, unsigned int way, uint64_t ip)
{
	const struct graph_store *store = fast->store;
	const struct node_step *step = &store->steps[step_to(fast, node) / sizeof(*step)];
	uint32_t next = atomic_load_explicit(&step->next[way], memory_order_acquire);

	if (__builtin_expect(!next, 0))
		return resolve(fast, node, way, ip);
	fast->reached_by = next;
	fast->reached = &store->nodes[next / sizeof(*step)];
	return fast->reached;
}

struct node *fast_find_place(struct fast *fast, uint64_t ip)
{
	if (code_section_at(fast->images, ip))
		return fast_node_at(fast, ip);
	fast->nowhere = (struct node){.ip = ip, .from = ip, .to = ip, .end = NODE_STUCK};
	return &fast->nowhere;
}

bool fast_go_to(struct fast *fast, uint64_t ip)
{
	fast->node = fast_place_at(fast, ip);
	fast->loose = 0;
	return fast->node;
}

/* Passes over ends that take no packet. */
struct node *fast_pass_go_on(struct fast *fast, struct node *node, bool all)
{
	for (int i = 0; node->end == NODE_GO_ON; i++) {
		if (i == GO_ON_MAX) {
			fast_decline(fast, "a long way without packets");
			return NULL;
		}
		fast_pass_all_known(fast, node, all);
		node = fast_node_at(fast, node->to);
		if (!node)
			return NULL;
	}
	return node;
}

static void forget_targets(struct fast *fast)
{
	memset(fast->memory->targets, 0, sizeof(fast->memory->targets));
	for (size_t i = 0; i < RETURN_STACK; i++)
		fast->stack[i].site = NULL;
}

bool fast_use_version(struct fast *fast, size_t version)
{
	const struct code_image_set *before = fast->images;
	struct function_finder *finder = &fast->memory->finder;
	size_t image;

	fast->version = version;
	if (code_take(&fast->pieces->code, version, &fast->images)) {
		fast->no_memory = true;
		return false;
	}
	if (fast->images == before)
		return true;
	image = code_image_nth(&fast->pieces->code, fast->images);
	if (!finder->functions || finder->image != image) {
		*finder = (struct function_finder){.functions = &fast->pieces->config->functions,
						   .image = image};
		forget_targets(fast);
	}
	return !fast->images->overlap || fast_decline(fast, "sections of code that overlap");
}

void fast_use_64(struct fast *fast, bool is_64)
{
	if (fast->memory->is_64 != is_64)
		forget_targets(fast);
	fast->memory->is_64 = is_64;
}

void fast_use_next_mode(struct fast *fast)
{
	if (!fast->next_has_mode)
		return;
	fast->next_has_mode = false;
	fast->has_mode = true;
	fast_use_64(fast, fast->next_is_64);
}

/* ---- TNT ---- */

static struct node *take_return(struct fast *fast, struct node *node, bool taken)
{
	const struct known_branch *site;
	struct node *next;
	uint32_t back;
	uint64_t ip;

	if (!taken || !fast->depth) {
		fast_decline(fast, "a return without its call");
		return NULL;
	}
	ip = fast->stack[fast->top].ip;
	site = fast->stack[fast->top].site;
	fast->top = (fast->top - 1) % RETURN_STACK;
	fast->depth--;
	fast_emit_end(fast, node, ip);
	back = site ? atomic_load_explicit(&site->back, memory_order_acquire) : 0;
	if (back)
		return &node->graph->store->nodes[back / sizeof(struct node_step)];
	next = fast_place_at(fast, ip);
	if (next && next->graph && site && graph_covers(next->graph, site->from))
		atomic_store_explicit(&((struct known_branch *)site)->back, node_step_to(next),
				      memory_order_release);
	return next;
}

static bool go_on_with_all(struct fast *fast, struct node *node, uint64_t bits, unsigned int cnt);

struct bits {
	uint64_t left; /* the first one highest */
	unsigned int cnt;
};

/*
 * Where the step of the value `at` leads, which is of that class. Each step waits for the one before it, so
 * there is nothing to compute but an address.
 */
static inline uint32_t step_next(const struct node_step *steps, size_t at, enum step_class class,
				 uint64_t way)
{
	const void *step = (const uint8_t *)steps + at - class;

	return atomic_load_explicit(&((const struct node_step *)step)->next[way], memory_order_acquire);
}

/*
 * As far as it goes by steps alone: most of the way. is_first: what the node has to hand out is done.
 * *ret_led: the last step was a branch that is handed out.
 */
static inline struct node *take_steps(struct fast *fast, struct node *node, bool is_first, struct bits *bits,
				      bool *ret_led)
{
	const struct graph_store *store = fast->store;
	const struct node_step *steps = store->steps;
	struct node *nodes = store->nodes;
	size_t at = step_to(fast, node);
	struct bits now = *bits;
	bool led = false;

	if (is_first && at & STEP_CALL)
		at += STEP_PLAIN - STEP_CALL;
	for (; now.cnt; now.left <<= 1, now.cnt--) {
		const struct node *here = &nodes[at / sizeof(*steps)];
		uint32_t next;

		if (__builtin_expect(at & STEP_PLAIN, 1)) {
			next = step_next(steps, at, STEP_PLAIN, now.left >> 63);
			if (!next)
				break;
			led = false;
		} else if (at & STEP_RETURN) {
			const struct known_branch *site = fast->stack[fast->top].site;

			if (!(now.left >> 63) || !fast->depth || !site)
				break;
			next = atomic_load_explicit(&site->back, memory_order_acquire);
			if (!next)
				break;
			fast_emit_end(fast, here, fast->stack[fast->top].ip);
			fast->top = (fast->top - 1) % RETURN_STACK;
			fast->depth--;
			led = true;
		} else if (at & STEP_CALL) {
			next = step_next(steps, at, STEP_CALL, now.left >> 63);
			if (!next)
				break;
			emit_known(fast, here->known);
			fast_push_return(fast, here->known);
			led = false;
		} else {
			break;
		}
		at = next;
	}
	*ret_led = led;
	if (now.cnt == bits->cnt)
		return node;
	*bits = now;
	fast->reached_by = (uint32_t)at;
	fast->reached = &nodes[at / sizeof(*steps)];
	return fast->reached;
}

/* The node at hand is known to be STEP_PLAIN, without a look at it. */
static inline bool is_plain(const struct fast *fast)
{
	return fast->node == fast->reached && fast->reached_by & STEP_PLAIN;
}

/* `bits`, the first one highest. */
static inline __attribute__((always_inline)) bool take_bits(struct fast *fast, uint64_t bits,
							    unsigned int cnt, bool all)
{
	struct node *node = fast->node, *next;
	bool led = false, is_first = true;

	if (all || !is_plain(fast)) {
		if (node->end == NODE_GO_ON && !(node = fast_pass_go_on(fast, node, all)))
			return false;
		fast_pass_all_known(fast, node, all);
	}
	fast_take_time(fast);
	if (cnt > 1)
		fast->before_tsc = fast->tsc;
	for (;; is_first = false) {
		unsigned int taken;

		if (!all) {
			struct bits left = {bits, cnt};

			node = take_steps(fast, node, is_first, &left, &led);
			is_first &= left.cnt == cnt;
			bits = left.left;
			cnt = left.cnt;
			if (!cnt)
				break;
		}
		if (!is_first) {
			if (node->end == NODE_GO_ON && !(node = fast_pass_go_on(fast, node, all)))
				return false;
			fast_pass_all_known(fast, node, all);
		}
		taken = bits >> 63;
		if (node->end == NODE_COND) {
			next = follow(fast, node, taken, taken ? node->to : node->from + node->from_len);
			led = taken &&
			      (all ? node->to != node->from + node->from_len : node->kept & NODE_KEPT_TAKEN);
			if (led)
				fast_emit_end(fast, node, node->to);
			else if (!all && __builtin_expect(node->kept & NODE_CROSSES, 0) && !taken && next)
				return go_on_with_all(fast, next, bits << 1, cnt - 1);
		} else if (node->end == NODE_RETURN) {
			next = take_return(fast, node, taken);
			led = true;
		} else {
			return fast_decline_end(fast, node, "a TNT packet for no branch");
		}
		if (!next)
			return false;
		node = next;
		bits <<= 1;
		if (!--cnt)
			break;
		if (__builtin_expect(node == &fast->nowhere, 0))
			return fast_decline_end(fast, node, "code that is not known");
	}
	fast->node = node;
	fast->loose = led ? fast->out->cnt : 0;
	fast->has_moved = true;
	return true;
}

static __attribute__((noinline)) bool take_bits_all(struct fast *fast, uint64_t bits, unsigned int cnt)
{
	bool ok = take_bits(fast, bits, cnt, true);

	fast_choose_branches(fast);
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

bool fast_on_tnt(struct fast *fast, uint64_t bits, unsigned int cnt)
{
	if (!fast->node || fast_is_in_event(fast) || fast->next_has_mode)
		return fast->is_lost || fast_decline(fast, "a TNT packet that is out of place");
	if (!cnt)
		return fast_decline(fast, "an empty TNT packet");
	if (!is_plain(fast) && fast->node->end == NODE_STUCK)
		return fast_decline_end(fast, fast->node, "code that is not known");
	fast_move_on(fast);
	if (__builtin_expect(fast->all, 0))
		return take_bits_all(fast, bits, cnt);
	return take_bits(fast, bits, cnt, false);
}
