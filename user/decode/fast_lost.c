/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * After unknown code TNT bits have no meaning. But the packets go on, and the next one with an address (TIP,
 * FUP, TIP.PGE) gives the position again. The code between is a gap:
 *
 *	TIP a	TNT ..	TIP u	TNT ....	TIP u+9	TNT .	TIP b	TNT ..
 *	known ------------->|  no code is known here	        |  known again
 *			   gap					start at b
 *
 * The return stack is then invalid, because unseen calls and returns changed the processor's. It stays valid
 * across an unknown kernel if user code continues exactly where it entered the kernel: there calls and
 * returns are balanced. (A processor compresses a return only if it goes to the top of its stack, so entries
 * that the kernel has overwritten do no harm.)
 *
 * The reference decoder gives up until the next PSB. So a later mismatch in the piece (a return whose call is
 * unknown) does not decline the piece, which would lose the branches found so far. It only loses the position
 * until the next address.
 */
#include "arch/arch.h"
#include "decode/fast_internal.h"

#include <intel-pt.h>

void fast_note_entry(struct fast *fast, uint64_t resume_ip, uint64_t to)
{
	fast->entry_ip = arch_is_kernel(to) && !arch_is_kernel(resume_ip) ? to : 0;
	fast->resume_ip = resume_ip;
}

static void emit_gap(struct fast *fast, enum branch_gap gap, uint64_t ip)
{
	*fast_emit(fast) = (struct branch){.tsc = fast->tsc,
					   .from = ip,
					   .kind = BRANCH_GAP,
					   .gap = (uint8_t)gap,
					   .detail = gap == GAP_NO_CODE ? pte_nomap : pte_bad_query};
	fast->out_first = fast->out->cnt;
	fast->all = true;
}

/* Nothing is known from here on. */
static void begin_loss(struct fast *fast, enum branch_gap gap, uint64_t ip)
{
	emit_gap(fast, gap, ip);
	/* What is known of the kernel's own calls would lie on top. */
	fast->keeps_until = gap == GAP_NO_CODE && ip == fast->entry_ip ? fast->resume_ip : 0;
	fast->lost_version = fast->version;
	fast->entry_ip = fast->later_tsc = 0;
	fast->is_lost = fast->has_lost = true;
	fast->misses_code = fast->in_event = fast->aborting = fast->mode_while_off = false;
	fast->fup_use = FUP_ASYNC;
	fast->node = NULL;
	fast->loose = 0;
	fast->why = NULL;
}

bool fast_lose(struct fast *fast, const uint8_t *packet, size_t cnt)
{
	bool misses = fast->misses_code;

	if (fast->no_memory || fast->is_damaged || (!misses && !fast->has_lost))
		return false;
	if (fast->is_lost && fast->at == packet)
		return false;
	if (!fast->is_lost) {
		/* What code was passed on the way to something that is not there did not run. */
		if (!misses)
			fast->out->cnt = cnt;
		begin_loss(fast, misses ? GAP_NO_CODE : GAP_BAD_TRACE, misses ? fast->missing_ip : 0);
		fast->at = packet;
	}
	fast->why = NULL;
	return true;
}

bool fast_find(struct fast *fast, uint64_t ip)
{
	uint64_t keeps_until = fast->keeps_until;

	fast->keeps_until = 0;
	fast_take_event_time(fast);
	if (!fast_use_version(fast, code_version_at(&fast->pieces->code, fast->tsc)))
		return false;
	fast_use_next_mode(fast);
	if (!code_section_at(fast->images, ip)) {
		fast->keeps_until = arch_is_kernel(ip) ? keeps_until : 0;
		return true;
	}
	if (!keeps_until || ip != keeps_until || fast->version != fast->lost_version)
		fast->depth = 0;
	fast->is_lost = false;
	*fast_emit(fast) = (struct branch){.tsc = fast->tsc,
					   .to = ip,
					   .kind = BRANCH_NONE,
					   .flags = BRANCH_TRACE_START,
					   .detail = (int32_t)fast->version};
	return fast_go_to(fast, ip);
}

bool fast_end_lost(struct fast *fast)
{
	begin_loss(fast, GAP_NO_CODE, fast->node->ip);
	return true;
}
