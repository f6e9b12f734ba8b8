/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One pass over the packets; each acts on the current node. When the packet for a node's end is read, the
 * node's direct branches have happened: they are handed out then, with the time of the previous packet. The
 * branch at the end gets the time of its own packet.
 *
 *	packet	at the node
 *	TNT	its conditional jump, or a return to where the call came from; one node on for each bit
 *	TIP	its indirect branch
 *	TIP.PGD	its far branch, or the branch that left the filter: tracing ends
 *	FUP	an instruction on the way to its end, at which something happens: TIP and
 *		TIP.PGD that follow say what
 *	OVF	nothing is known any more up to the FUP or TIP.PGE that follows
 *
 * Anything unexpected (no code, damaged packets, an unknown combination) ends the pass, and the reference
 * decoder decodes the piece. So both agree on errors, and the fast decoder can assume correct input.
 */
#include "decode/fast_internal.h"

#include <errno.h>
#include <intel-pt.h>

#include "base/error.h"

/* ---- the end of the piece ---- */

static bool is_limit(const struct fast *fast, uint64_t start, uint64_t last)
{
	return fast->has_limit && fast->limit_ip >= start && fast->limit_ip <= last;
}

/*
 * Behind the last packet, as far as the code tells by itself, to where the next piece begins. Where none
 * begins while tracing is on, nothing shows that code went any further.
 */
static bool walk_tail(struct fast *fast)
{
	const struct node *node = fast->node;

	if (fast->is_lost)
		return true;
	if (fast_is_in_event(fast) || fast->next_has_mode || fast->mode_while_off)
		return fast->has_lost || fast_decline(fast, "an event that is cut off");
	if (node == &fast->nowhere)
		return is_limit(fast, node->ip, node->ip) || fast_end_lost(fast);
	if (!fast->has_limit)
		return true;
	fast_move_on(fast);
	for (int i = 0; node && i < GO_ON_MAX; i++) {
		uint64_t start = node->ip;

		for (size_t j = 0; j < node->known_cnt; j++) {
			if (is_limit(fast, start, node->known[j].from))
				return true;
			fast_pass_known(fast, &node->known[j], fast->all);
			start = node->known[j].to;
		}
		if (node->end == NODE_STUCK)
			break;
		if (node->end != NODE_GO_ON)
			return true;
		if (start < node->to && is_limit(fast, start, node->to - 1))
			return true;
		node = fast_node_at(fast, node->to);
	}
	return !fast->node || fast->has_lost || fast_decline(fast, "code that leads nowhere");
}

int fast_decode(struct pieces *pieces, size_t index, struct fast_memory *memory, struct branch_list *branches,
		const char **ret_why)
{
	const struct piece *piece = &pieces->items[index];
	struct fast fast = {
		.pieces = pieces,
		.store = decoder_cache_store(pieces->config->cache),
		.memory = memory,
		.out = branches,
		.out_first = branches->cnt,
		.at = pieces_bytes(pieces, index),
		.tsc = piece->header.tsc,
		.all = true,
	};
	size_t cnt = branches->cnt;
	struct pt_config config;
	bool is_read;

	fast_use_64(&fast, true);
	fast.end = fast.at + (piece->end - piece->begin);
	pieces_setup(pieces, index, &config);
	timing_init(&fast.timing, &config);
	fast.odd_overflows = config.errata.skd010 || config.errata.apl11 || config.errata.apl12;
	fast.odd_cycles = config.errata.skd007;
	fast.odd_vm_entries = config.errata.skd022;
	fast.has_limit = pieces_limit(pieces, index, &fast.limit_ip);
	is_read = fast_use_version(&fast, piece->version) && fast_read_header(&fast) &&
		  fast_read_all_packets(&fast) && walk_tail(&fast) && !fast.no_memory;
	code_give(&pieces->code, fast.images);
	if (is_read)
		return 0;
	branches->cnt = cnt;
	if (fast.no_memory)
		return fail(-ENOMEM, "no memory for branches");
	*ret_why = fast.why;
	return 1;
}
