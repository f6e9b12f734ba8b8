/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From blocks to branches. libipt hands out blocks that end in every call and jump; a branch leads from the
 * end of one block to the beginning of the next. So the end of the last block is kept until it is known what
 * comes: the next block (a branch to it), an event (the branch that ended tracing, or one to the place where
 * an asynchronous event came in), or nothing.
 *
 *	block ... call f |  block f: ...			branch call -> f
 *	block ... syscall |  event: disabled			branch syscall, trace end
 *	block ... jne L |  event: async disabled at L		branch jne -> L, then interrupt, trace end
 *
 * The time of a branch is what libipt says when it has read the branch's packet, which is right after the
 * block that it ends.
 *
 * A piece ends where the next one begins (pieces_limit()), with its last packet where none does, or at the
 * first error: what follows, up to the next PSB, cannot be trusted, and is a gap.
 */
#include "decode/blocks.h"

#include <intel-pt.h>

#include "base/array.h"
#include "base/error.h"
#include "decode/code_insn.h"
#include "decode/libipt/status.h"
#include "decode/walk.h"

struct walker {
	struct pt_block_decoder *decoder;
	struct code_hold hold;
	const struct cached_section *section; /* of the last block */
	struct branch_list *branches;
	struct walk walk;
	uint64_t limit_ip;
	bool has_limit;
	bool has_last; /* the last block's end is kept */
	uint64_t last_ip;
	uint64_t last_tsc;
	struct code_insn last;
	uint64_t tsc;
	bool aborting; /* a transaction */
	/* one more than the index of the first direct branch out of what is traced, since trace was taken */
	size_t left;
	bool no_memory;
};

/* Another process's turn, or another image of this one. 0 or -ENOMEM. */
static int use_version(struct walker *walker, size_t version)
{
	int changed = code_hold(&walker->hold, version);

	if (changed > 0)
		pt_blk_set_image(walker->decoder, walker->hold.image);
	return changed < 0 ? changed : 0;
}

static void emit(struct walker *walker, const struct branch *branch)
{
	if (ARRAY_PUSH(walker->branches->items, walker->branches->cnt, walker->branches->cap, *branch))
		walker->no_memory = true;
}

static void emit_gap(struct walker *walker, enum branch_gap gap, uint64_t from, uint64_t to, int detail)
{
	emit(walker, &(struct branch){.tsc = walker->tsc,
				      .from = from,
				      .to = to,
				      .kind = BRANCH_GAP,
				      .gap = (uint8_t)gap,
				      .detail = detail});
	walker->has_last = false;
}

/* The last block leads to `to`. */
static void lead_to(struct walker *walker, uint64_t to)
{
	const struct code_insn *last = &walker->last;

	if (!walker->has_last)
		return;
	walker->has_last = false;
	if (last->kind == BRANCH_NONE || (last->kind == BRANCH_COND && to == walker->last_ip + last->len))
		return;
	emit(walker,
	     &(struct branch){.tsc = walker->last_tsc,
			      .from = walker->last_ip,
			      .to = to,
			      .kind = last->kind,
			      .flags = last->kind == BRANCH_JUMP && !last->direct ? BRANCH_INDIRECT : 0,
			      .from_len = last->len});
	if (!last->direct)
		walker->left = 0;
	else if (!walker->left && code_is_left_out(walker->hold.set, to))
		walker->left = walker->branches->cnt;
}

static uint64_t time_of(const struct walker *walker)
{
	uint32_t lost_mtc, lost_cyc;
	uint64_t tsc;

	/* Without a TSC so far, the time is relative to nothing. */
	return pt_blk_time(walker->decoder, &tsc, &lost_mtc, &lost_cyc) < 0 ? 0 : tsc;
}

static void update_time(struct walker *walker)
{
	uint64_t tsc = time_of(walker);

	if (tsc > walker->tsc)
		walker->tsc = tsc;
}

/* ---- events ---- */

/* Between the end of a trace and its next start, who runs may have changed. */
static void on_enabled(struct walker *walker, uint64_t ip)
{
	size_t version = code_version_enabled_at(walker->hold.code, walker->tsc);

	walker->has_last = false;
	walker->left = 0;
	if (use_version(walker, version))
		walker->no_memory = true;
	emit(walker, &(struct branch){.tsc = walker->tsc,
				      .to = ip,
				      .kind = BRANCH_NONE,
				      .flags = BRANCH_TRACE_START,
				      .detail = (int32_t)version});
}

static void on_disabled(struct walker *walker, bool has_ip)
{
	const struct code_insn *last = &walker->last;
	struct branch last_branch;
	bool known = walker->has_last;

	/* libipt has walked on to where tracing could end without filters. */
	if (!has_ip && walker->left && !walker->no_memory) {
		last_branch = walker->branches->items[walker->left - 1];
		walker->branches->cnt = walker->left - 1;
		last_branch.to = 0;
		last_branch.flags = BRANCH_TRACE_END;
		last_branch.tsc = walker->tsc;
		emit(walker, &last_branch);
		walker->has_last = false;
		return;
	}
	emit(walker, &(struct branch){.tsc = walker->tsc,
				      .from = known ? walker->last_ip : 0,
				      .kind = known ? last->kind : BRANCH_NONE,
				      .from_len = known ? last->len : 0,
				      .flags = BRANCH_TRACE_END});
	walker->has_last = false;
}

static void on_async_disabled(struct walker *walker, uint64_t at)
{
	lead_to(walker, at);
	emit(walker,
	     &(struct branch){
		     .tsc = walker->tsc, .from = at, .kind = BRANCH_INTERRUPT, .flags = BRANCH_TRACE_END});
}

static void emit_event(struct walker *walker, enum branch_event event, uint64_t ip, uint64_t payload)
{
	emit(walker, &(struct branch){.tsc = walker->tsc,
				      .from = ip,
				      .to = payload,
				      .kind = BRANCH_EVENT,
				      .gap = (uint8_t)event});
}

/* What is no control flow. */
static void on_other_event(struct walker *walker, const struct pt_event *event)
{
	uint64_t payload;

	switch (event->type) {
	case ptev_ptwrite:
		emit_event(walker, EVENT_PTWRITE, event->ip_suppressed ? 0 : event->variant.ptwrite.ip,
			   event->variant.ptwrite.payload);
		break;
	case ptev_pwre:
		payload = event->variant.pwre.state << 4 | event->variant.pwre.sub_state;
		emit_event(walker, EVENT_POWER_ENTRY, 0, payload);
		break;
	case ptev_pwrx:
		payload = event->variant.pwrx.last << 4 | event->variant.pwrx.deepest |
			  event->variant.pwrx.interrupt << 8 | event->variant.pwrx.store << 9 |
			  event->variant.pwrx.autonomous << 10;
		emit_event(walker, EVENT_POWER_EXIT, 0, payload);
		break;
	case ptev_exstop:
		emit_event(walker, EVENT_STOPPED, event->ip_suppressed ? 0 : event->variant.exstop.ip, 0);
		break;
	case ptev_mwait:
		payload = event->variant.mwait.hints | (uint64_t)event->variant.mwait.ext << 32;
		emit_event(walker, EVENT_MWAIT, event->ip_suppressed ? 0 : event->variant.mwait.ip, payload);
		break;
	case ptev_cbr:
		emit_event(walker, EVENT_FREQUENCY, 0, event->variant.cbr.ratio);
		break;
	default:
		break; /* paging, modes, virtual machines, maintenance */
	}
}

static void on_event(struct walker *walker, const struct pt_event *event)
{
	if (event->has_tsc && event->tsc > walker->tsc)
		walker->tsc = event->tsc;
	if (event->status_update)
		return;
	switch (event->type) {
	case ptev_enabled:
		on_enabled(walker, event->variant.enabled.ip);
		break;
	case ptev_disabled:
		on_disabled(walker, !event->ip_suppressed);
		break;
	case ptev_async_disabled:
		on_async_disabled(walker, event->variant.async_disabled.at);
		break;
	case ptev_async_branch:
		lead_to(walker, event->variant.async_branch.from);
		emit(walker, &(struct branch){.tsc = walker->tsc,
					      .from = event->variant.async_branch.from,
					      .to = event->variant.async_branch.to,
					      .kind = walker->aborting ? BRANCH_TX_ABORT : BRANCH_INTERRUPT});
		walker->aborting = false;
		break;
	case ptev_overflow:
		emit_gap(walker, GAP_OVERFLOW, 0, event->ip_suppressed ? 0 : event->variant.overflow.ip, 0);
		break;
	case ptev_tsx:
		if (event->variant.tsx.aborted)
			lead_to(walker, event->variant.tsx.ip);
		walker->aborting = event->variant.tsx.aborted; /* the branch to the handler follows */
		break;
	default:
		on_other_event(walker, event);
		break;
	}
	walk_restart(&walker->walk);
}

/* Takes all events that are due. The status, or a negative one. */
static int drain_events(struct walker *walker, int status)
{
	while (status >= 0 && (status & pts_event_pending)) {
		uint64_t tsc = time_of(walker);
		struct pt_event event;

		status = pt_blk_event(walker->decoder, &event, sizeof(event));
		if (status < 0)
			break;
		/*
		 * Some events have no time of their own; that of the decoder is the event's as long as it
		 * waits.
		 */
		if (!event.has_tsc && tsc > walker->tsc)
			walker->tsc = tsc;
		on_event(walker, &event);
	}
	return status;
}

/* ---- blocks ---- */

static const struct cached_section *section_of(struct walker *walker, const struct pt_block *block)
{
	if (!walker->section || walker->section->isid != block->isid)
		walker->section = decoder_cache_section(walker->hold.code->config->cache, block->isid);
	return walker->section;
}

static void keep_end(struct walker *walker, const struct pt_block *block)
{
	bool is_64 = block->mode == ptem_64bit;

	walker->last = (struct code_insn){0};
	if (block->truncated)
		code_insn_decode(&walker->last, block->raw, block->size, is_64);
	else
		cached_section_insn(section_of(walker, block), block->end_ip, is_64, &walker->last);
	walker->has_last = true;
	walker->last_ip = block->end_ip;
	walker->last_tsc = walker->tsc;
}

static bool reaches_limit(const struct walker *walker, const struct pt_block *block)
{
	return walker->limit_ip >= block->ip && walker->limit_ip <= block->end_ip;
}

/* One block; `in_tail`: there are no packets any more. False: the piece ends here. */
static bool on_block(struct walker *walker, const struct pt_block *block, bool in_tail)
{
	if (walker->has_last && !walker->last.direct)
		walk_restart(&walker->walk);
	lead_to(walker, block->ip);
	if (in_tail && (!walker->has_limit || reaches_limit(walker, block)))
		return false;
	if (!walk_step(&walker->walk, block->ip)) {
		/* A loop that no packet ends. */
		if (!in_tail)
			emit_gap(walker, GAP_BAD_TRACE, block->ip, 0, pte_internal);
		return false;
	}
	update_time(walker);
	keep_end(walker, block);
	return true;
}

/* `in_tail`: there were no packets any more. */
static int on_error(struct walker *walker, int status, uint64_t ip, bool in_tail)
{
	enum branch_gap gap = status_gap(status);
	bool is_next; /* the next piece begins there */

	if (status == -pte_eos)
		return 0;
	if (gap == GAP_NONE)
		return status_fail(status, "decoding");
	is_next = in_tail && walker->has_limit && ip == walker->limit_ip;
	in_tail &= !walker->has_limit;
	if (gap == GAP_NO_CODE || in_tail)
		lead_to(walker, ip); /* the branch that led there, if not further */
	if (gap == GAP_NO_CODE ? is_next : in_tail)
		return 0;
	emit_gap(walker, gap, gap == GAP_NO_CODE ? ip : 0, 0, status_detail(status));
	return 0;
}

static int walk_piece(struct walker *walker)
{
	uint64_t ip = 0;
	int status = pt_blk_sync_set(walker->decoder, 0);

	update_time(walker);
	for (;;) {
		struct pt_block block = {0};
		bool in_tail;

		status = drain_events(walker, status);
		if (status < 0)
			return on_error(walker, status, ip, false);
		in_tail = status & pts_eos;
		status = pt_blk_next(walker->decoder, &block, sizeof(block));
		if (block.ninsn && !on_block(walker, &block, in_tail))
			return 0;
		ip = block.ninsn ? block.end_ip + walker->last.len : block.ip;
		if (status < 0)
			return on_error(walker, status, ip, in_tail);
	}
}

int blocks_decode(struct pieces *pieces, size_t index, struct branch_list *branches)
{
	const struct piece *piece = &pieces->items[index];
	struct walker walker = {
		.hold = {.code = &pieces->code}, .branches = branches, .tsc = piece->header.tsc};
	struct pt_config config;
	int err;

	walker.has_limit = pieces_limit(pieces, index, &walker.limit_ip);
	pieces_setup(pieces, index, &config);
	config.flags.variant.block.end_on_call = 1;
	config.flags.variant.block.end_on_jump = 1;
	walker.decoder = pt_blk_alloc_decoder(&config);
	if (!walker.decoder)
		return status_fail(-pte_nomem, "a block decoder");
	err = use_version(&walker, piece->version);
	if (!err)
		err = walk_piece(&walker);
	pt_blk_free_decoder(walker.decoder);
	code_let_go(&walker.hold);
	return walker.no_memory ? fail(-ENOMEM, "no memory for branches") : err;
}
