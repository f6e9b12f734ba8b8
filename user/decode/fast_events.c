/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TIP, TIP.PGE, TIP.PGD, FUP and OVF: finds the place in the code that each belongs to, and applies it there.
 */
#include "decode/fast_internal.h"

#include "decode/code_insn.h"

/* ---- positions between branches ---- */

static const uint8_t *code_at(const struct node *node, uint64_t ip, size_t *ret_size)
{
	*ret_size = node->graph->size - (ip - node->graph->addr);
	return node->graph->bytes + (ip - node->graph->addr);
}

/*
 * In straight code from `start` to `last`, the first bytes of instructions; *ret_ip is the place, or behind
 * the instruction.
 */
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

/*
 * The node from there on. `waits`: the branch that leads there is the last one, and nothing shows yet that it
 * did.
 */
static bool stop_at(struct fast *fast, uint64_t ip, bool waits)
{
	if (!fast_go_to(fast, ip))
		return false;
	fast->loose = waits ? fast->out->cnt : 0;
	return true;
}

/* Goes on to what is looked for; the node is the one from there on. */
bool fast_advance(struct fast *fast, const struct sought *sought)
{
	struct node *node = fast->node;
	bool waits = fast_is_loose(fast);

	if (node && (sought->is_it || sought->ip != node->ip))
		fast_move_on(fast);
	for (int i = 0; node && i < GO_ON_MAX; i++) {
		uint64_t start = node->ip, ip;

		for (size_t j = 0; j < node->known_cnt; j++) {
			const struct known_branch *known = &node->known[j];

			if (find_in_run(node, start, known->from, sought, &ip))
				return stop_at(fast, ip, waits && ip == start);
			fast_pass_known(fast, known, fast->all);
			waits = fast->all || known->kept;
			start = known->to;
		}
		if (node->end != NODE_GO_ON || start != node->to)
			if (find_in_run(node, start, node->from, sought, &ip))
				return stop_at(fast, ip, waits && ip == start);
		if (node->end != NODE_GO_ON)
			break;
		node = fast_place_at(fast, node->to);
	}
	if (!fast->why)
		fast_decline_end(fast, node, "an event that is not on the way");
	/* Of a transaction that is aborted, the last branch may not have happened (erratum BDM64). */
	if (fast->aborting)
		fast->misses_code = false;
	return false;
}

static bool advance_to(struct fast *fast, uint64_t ip)
{
	return fast_advance(fast, &(struct sought){.ip = ip});
}

/* ---- TIP and its kin ---- */

/* Up to the branch that the next packet is about. */
static bool reach_end(struct fast *fast)
{
	struct node *node = fast->node;

	if (!node)
		return fast_decline(fast, "a branch while tracing is off");
	if (node->end == NODE_GO_ON && !(node = fast_pass_go_on(fast, node, fast->all)))
		return false;
	fast_pass_all_known(fast, node, fast->all);
	fast->node = node;
	return true;
}

static bool is_inside(const struct node *from, const struct node *to)
{
	return from->kind == BRANCH_JUMP && from->last_function && from->last_function == to->first_function;
}

/* A branch whose target the packet tells. */
bool fast_on_branch_tip(struct fast *fast, uint64_t ip)
{
	struct node *node, *next;

	if (fast->is_lost)
		return fast_find(fast, ip);
	if (!fast->next_has_mode)
		fast_move_on(fast);
	else if (fast_time(fast) < fast->mode_tsc)
		return fast_decline(fast, "a branch to another mode while the time runs back");
	else
		fast_take_event_time(fast);
	if (!reach_end(fast))
		return false;
	node = fast->node;
	if (node->end != NODE_INDIRECT && node->end != NODE_RETURN && node->end != NODE_FAR)
		return fast_decline_end(fast, node, "a TIP packet for no branch");
	fast_take_time(fast);
	if (fast->next_has_mode)
		fast_use_next_mode(fast);
	next = fast_place_at(fast, ip);
	if (!next)
		return false;
	if (node->call.pushes)
		fast_push_return(fast, &node->call);
	if (node->end == NODE_FAR)
		fast_note_entry(fast, node->from + node->from_len, ip);
	fast->loose = 0;
	if (fast->all || !is_inside(node, next)) {
		fast_emit_end(fast, node, ip);
		fast->loose = fast->out->cnt;
		fast_choose_branches(fast);
	}
	fast->node = next;
	fast->has_moved = true;
	return true;
}

/* The instruction that an asynchronous event came at. */
static bool reach_event(struct fast *fast)
{
	/* If no block was handed out since the last event, libipt shows only the FUP's time. */
	if (fast->has_moved || (!fast->aborting && fast->node->ip != fast->event_ip))
		fast_take_event_time(fast);
	fast->later_tsc = 0;
	if (!fast->aborting && !advance_to(fast, fast->event_ip))
		return false;
	if (fast->event_tsc > fast->tsc)
		fast->tsc = fast->before_tsc = fast->event_tsc;
	return true;
}

bool fast_on_event_tip(struct fast *fast, uint64_t ip)
{
	if (!reach_event(fast))
		return false;
	*fast_emit(fast) = (struct branch){.tsc = fast->tsc,
					   .from = fast->event_ip,
					   .to = ip,
					   .kind = fast->aborting ? BRANCH_TX_ABORT : BRANCH_INTERRUPT};
	if (!fast->aborting)
		fast_note_entry(fast, fast->event_ip, ip);
	fast->in_event = fast->aborting = false;
	fast->later_tsc = fast_time(fast);
	fast_use_next_mode(fast);
	return fast_go_to(fast, ip);
}

bool fast_on_pge(struct fast *fast, uint64_t ip)
{
	if (fast->node || fast->in_event)
		return fast_decline(fast, "tracing begins while it is on");
	if (fast->is_lost)
		fast->depth = 0;
	fast->is_lost = false;
	if (!fast->has_mode)
		return fast_decline(fast, "code of a mode that is not known");
	fast->mode_while_off = false;
	fast_take_event_time(fast);
	if (!fast_use_version(fast, code_version_enabled_at(&fast->pieces->code, fast->tsc)))
		return false;
	*fast_emit(fast) = (struct branch){.tsc = fast->tsc,
					   .to = ip,
					   .kind = BRANCH_NONE,
					   .flags = BRANCH_TRACE_START,
					   .detail = (int32_t)fast->version};
	fast->loose = 0;
	return fast_go_to(fast, ip);
}

static bool end_of_trace(struct fast *fast, uint64_t from, uint8_t kind, uint8_t from_len)
{
	*fast_emit(fast) = (struct branch){.tsc = fast->tsc,
					   .from = from,
					   .kind = kind,
					   .from_len = from_len,
					   .flags = BRANCH_TRACE_END};
	fast->node = NULL;
	fast->in_event = fast->aborting = false;
	fast->loose = 0;
	fast_use_next_mode(fast);
	return true;
}

/* The first branch out of what is traced; some processors do not tell where a direct one leads then. */
static bool leave_ranges(struct fast *fast)
{
	const struct node *node = fast->node;

	fast_move_on(fast);
	for (int i = 0; node && i < GO_ON_MAX; i++) {
		for (size_t j = 0; j < node->known_cnt; j++) {
			const struct known_branch *known = &node->known[j];

			if (code_is_left_out(fast->images, known->to))
				return end_of_trace(fast, known->from, known->kind, known->from_len);
			fast_pass_known(fast, known, fast->all);
		}
		if (node->end != NODE_GO_ON)
			break;
		node = fast_node_at(fast, node->to);
	}
	if (!node)
		return false;
	if (node->end == NODE_COND ? !code_is_left_out(fast->images, node->to) : node->end > NODE_FAR)
		return fast_decline_end(fast, node, "tracing ends at no branch");
	return end_of_trace(fast, node->from, node->kind, node->from_len);
}

/* In an asynchronous event. */
bool fast_on_event_pgd(struct fast *fast)
{
	const struct cached_section *section = code_section_at(fast->images, fast->event_ip);
	uint64_t at = section ? fast->event_ip - section->addr : 0;

	if (fast->odd_vm_entries && section && code_insn_is_vm_entry(section->bytes + at, section->size - at))
		return fast_decline(fast, "a virtual machine's entry on a processor with errata");
	return reach_event(fast) && end_of_trace(fast, fast->event_ip, BRANCH_INTERRUPT, 0);
}

/* Without an address: at a branch that leaves the privilege level, or what is traced. */
bool fast_on_pgd(struct fast *fast)
{
	const struct node *node;
	size_t size;

	fast_take_event_time(fast);
	if (fast->node && fast->images->image->range_cnt)
		return leave_ranges(fast);
	if (!reach_end(fast))
		return false;
	node = fast->node;
	if (node->end != NODE_FAR || *code_at(node, node->from, &size) == 0xff)
		return fast_decline_end(fast, node, "tracing ends at no far branch");
	return end_of_trace(fast, node->from, node->kind, node->from_len);
}

/* With the address that it left the filter for: at the first branch that may lead there. */
bool fast_on_pgd_to(struct fast *fast, uint64_t ip)
{
	const struct node *node = fast->node;

	if (!node)
		return fast_decline(fast, "tracing ends while it is off");
	fast_take_event_time(fast);
	fast_move_on(fast);
	for (int i = 0; i < GO_ON_MAX; i++) {
		uint64_t start = node->ip;

		for (size_t j = 0; j < node->known_cnt; j++) {
			const struct known_branch *known = &node->known[j];

			if (ip >= start && ip <= known->from)
				return fast_decline(fast, "tracing ends at no branch");
			if (known->to == ip)
				return end_of_trace(fast, known->from, known->kind, known->from_len);
			fast_pass_known(fast, known, fast->all);
			start = known->to;
		}
		if (ip >= start && ip <= node->from)
			return fast_decline(fast, "tracing ends at no branch");
		if (node->end != NODE_GO_ON)
			break;
		node = fast_node_at(fast, node->to);
		if (!node)
			return false;
	}
	if (node->end == NODE_COND ? node->to != ip : node->end > NODE_FAR)
		return fast_decline_end(fast, node, "tracing ends at no branch");
	return end_of_trace(fast, node->from, node->kind, node->from_len);
}

bool fast_on_fup(struct fast *fast, uint64_t ip)
{
	enum fup_use use = fast->fup_use;

	fast->fup_use = FUP_ASYNC;
	if (fast->is_lost && (!fast_find(fast, ip) || fast->is_lost))
		return fast->is_lost;
	if (!fast->node || fast->in_event || fast->next_has_mode)
		return fast_decline(fast, "a FUP packet that belongs to nothing");
	fast->in_event = use != FUP_POSITION;
	fast->aborting = use == FUP_TX_ABORT;
	fast->event_ip = ip;
	fast->event_tsc = fast_time(fast);
	if (use == FUP_ASYNC)
		return true; /* its time is that of the TIP */
	fast_take_event_time(fast);
	if (!advance_to(fast, ip))
		return false;
	if (use == FUP_TX_ABORT)
		fast->loose = 0; /* the address shows what the last branch led to */
	if (use == FUP_POSITION && fast->event != EVENT_CNT)
		fast_emit_event(fast, fast->event, ip, fast->event_payload);
	return true;
}

/* ---- overflow ---- */

bool fast_on_overflow(struct fast *fast, bool has_ip, uint64_t ip)
{
	/* What the last branch led to is not known any more. */
	if (fast_is_loose(fast))
		fast->out->cnt--;
	fast->loose = 0;
	*fast_emit(fast) = (struct branch){
		.tsc = fast->tsc, .to = has_ip ? ip : 0, .kind = BRANCH_GAP, .gap = GAP_OVERFLOW};
	fast->out_first = fast->out->cnt;
	fast->all = true;
	fast->node = NULL;
	fast->is_lost = false;
	if (!has_ip)
		return true;
	fast->later_tsc = fast_time(fast);
	return fast_go_to(fast, ip);
}
