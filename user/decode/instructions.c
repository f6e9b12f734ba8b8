/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libipt's instruction decoder over the same pieces: one thread, every instruction, nothing cached. At an
 * error it gives up until the next PSB. Where the fast decoder continues (decode/fast_lost.c), or knows
 * address filters, the instructions follow from its branches: between two branches code runs straight on.
 */
#include <intel-pt.h>

#include "decode/code_insn.h"
#include "decode/fast.h"
#include "decode/libipt/status.h"
#include "decode/pieces.h"
#include "decode/walk.h"

struct lister {
	struct pt_insn_decoder *decoder;
	struct code_hold hold;
	const struct code_image_set *images; /* between branches: of the version */
	size_t version;
	uint64_t limit_ip;
	bool has_limit;
	struct walk walk;
	uint64_t at; /* between branches: the next instruction; 0: not known */
	int (*fn)(void *ctx, size_t version, uint64_t ip, enum branch_gap gap);
	void *ctx;
	struct fast_memory memory;
};

static int use_version(struct lister *lister, size_t version)
{
	int changed = code_hold(&lister->hold, version);

	lister->version = version;
	if (changed > 0)
		pt_insn_set_image(lister->decoder, lister->hold.image);
	return changed < 0 ? changed : 0;
}

static int on_event(struct lister *lister, const struct pt_event *event)
{
	if (event->status_update)
		return 0;
	if (event->type == ptev_enabled && event->has_tsc)
		return use_version(lister, code_version_enabled_at(lister->hold.code, event->tsc));
	return event->type == ptev_overflow ? lister->fn(lister->ctx, lister->version, 0, GAP_OVERFLOW) : 0;
}

/* Takes all events that are due; *ret_stop is fn's wish. */
static int drain_events(struct lister *lister, int status, int *ret_stop)
{
	while (status >= 0 && (status & pts_event_pending) && !*ret_stop) {
		struct pt_event event;

		status = pt_insn_event(lister->decoder, &event, sizeof(event));
		if (status >= 0)
			*ret_stop = on_event(lister, &event);
		walk_restart(&lister->walk);
	}
	return status;
}

static int on_error(struct lister *lister, int status)
{
	enum branch_gap gap = status_gap(status);

	if (status == -pte_eos)
		return 0;
	return gap == GAP_NONE ? status_fail(status, "decoding")
			       : lister->fn(lister->ctx, lister->version, 0, gap);
}

static bool takes_trace(const struct pt_insn *insn)
{
	return insn->iclass != ptic_other && insn->iclass != ptic_jump && insn->iclass != ptic_call;
}

static int list_piece(struct lister *lister)
{
	int status = pt_insn_sync_set(lister->decoder, 0), stop = 0;

	for (;;) {
		struct pt_insn insn = {0};
		bool in_tail;

		status = drain_events(lister, status, &stop);
		if (stop)
			return stop;
		if (status < 0)
			return on_error(lister, status);
		in_tail = status & pts_eos;
		status = pt_insn_next(lister->decoder, &insn, sizeof(insn));
		if (status >= 0 || (insn.iclass != ptic_error && insn.size)) {
			/* Without a limit nothing shows that what follows was executed. */
			if (in_tail && (!lister->has_limit || insn.ip == lister->limit_ip))
				return 0;
			stop = lister->fn(lister->ctx, lister->version, insn.ip, GAP_NONE);
			if (stop)
				return stop;
			if (takes_trace(&insn) || !in_tail)
				walk_restart(&lister->walk);
			else if (!walk_step(&lister->walk, insn.ip))
				return 0;
		}
		if (status < 0)
			return in_tail && (!lister->has_limit ||
					   (insn.ip == lister->limit_ip && status == -pte_nomap))
				       ? 0
				       : on_error(lister, status);
	}
}

/* ---- between branches ---- */

/* The length of the instruction at ip, which leads to the next one, or 0. */
static uint8_t plain_length(const struct lister *lister, uint64_t ip, bool is_64)
{
	struct code_insn insn;

	if (!cached_section_insn(code_section_at(lister->images, ip), ip, is_64, &insn))
		return 0;
	return insn.kind == BRANCH_NONE || insn.kind == BRANCH_COND ? insn.len : 0;
}

static bool leads_to(const struct lister *lister, uint64_t ip, bool is_64)
{
	uint64_t at = lister->at;

	while (at < ip) {
		uint8_t len = plain_length(lister, at, is_64);

		if (!len)
			return false;
		at += len;
	}
	return at == ip;
}

/* Those before ip, if straight code leads there. */
static int list_to(struct lister *lister, uint64_t ip)
{
	bool is_64 = leads_to(lister, ip, true);
	int stop = 0;

	if (!lister->at)
		return 0;
	if (!is_64 && !leads_to(lister, ip, false))
		return lister->fn(lister->ctx, lister->version, 0, GAP_BAD_TRACE);
	while (lister->at != ip && !stop) {
		uint64_t at = lister->at;

		lister->at += plain_length(lister, at, is_64);
		stop = lister->fn(lister->ctx, lister->version, at, GAP_NONE);
	}
	return stop;
}

/* 0 or -ENOMEM. */
static int begin_version(struct lister *lister, size_t version)
{
	lister->version = version;
	return code_take(lister->hold.code, version, &lister->images);
}

static int list_branch(struct lister *lister, const struct branch *branch)
{
	bool ran = branch->kind != BRANCH_GAP && branch->kind != BRANCH_INTERRUPT &&
		   branch->kind != BRANCH_TX_ABORT;
	int stop = 0;

	if (branch->kind == BRANCH_EVENT)
		return 0;
	if (branch->from)
		stop = list_to(lister, branch->from);
	if (branch->from && ran && !stop)
		stop = lister->fn(lister->ctx, lister->version, branch->from, GAP_NONE);
	if (branch->kind == BRANCH_GAP && !stop)
		stop = lister->fn(lister->ctx, lister->version, 0, branch->gap);
	if (branch->flags & BRANCH_TRACE_START && !stop)
		stop = begin_version(lister, (size_t)branch->detail);
	lister->at = branch->to;
	return stop;
}

static bool has_loss(const struct branch_list *branches)
{
	for (size_t i = 0; i < branches->cnt; i++)
		if (branches->items[i].kind == BRANCH_GAP && branches->items[i].gap != GAP_OVERFLOW)
			return true;
	return false;
}

/* Where tracing ends without an address libipt walks on to the next system call. */
static bool has_filters(const struct pieces *pieces)
{
	for (size_t i = 0; i < pieces->config->image_cnt; i++)
		if (pieces->config->images[i].range_cnt)
			return true;
	return false;
}

static int list_branches(struct pieces *pieces, size_t index, const struct branch_list *branches,
			 struct lister *lister)
{
	const struct piece *piece = &pieces->items[index];
	int stop = begin_version(lister, piece->version);

	lister->at = piece->header.has_ip ? piece->header.ip : 0;
	for (size_t i = 0; i < branches->cnt && !stop; i++)
		stop = list_branch(lister, &branches->items[i]);
	return stop || !lister->has_limit ? stop : list_to(lister, lister->limit_ip);
}

/* ---- all pieces ---- */

static int list_with_libipt(struct pieces *pieces, size_t index, struct lister *lister)
{
	struct pt_config config;
	int err;

	pieces_setup(pieces, index, &config);
	lister->walk = (struct walk){0};
	lister->decoder = pt_insn_alloc_decoder(&config);
	if (!lister->decoder)
		return status_fail(-pte_nomem, "an instruction decoder");
	err = use_version(lister, pieces->items[index].version);
	if (!err)
		err = list_piece(lister);
	pt_insn_free_decoder(lister->decoder);
	code_let_go(&lister->hold);
	return err;
}

static int decode_piece(struct pieces *pieces, size_t index, struct lister *lister)
{
	struct branch_list branches = {0};
	const char *why;
	int err = fast_decode(pieces, index, &lister->memory, &branches, &why);

	lister->has_limit = pieces_limit(pieces, index, &lister->limit_ip);
	if (!err && (has_loss(&branches) || has_filters(pieces)))
		err = list_branches(pieces, index, &branches, lister);
	else if (err >= 0)
		err = list_with_libipt(pieces, index, lister);
	branch_list_release(&branches);
	return err;
}

int decoder_instructions(const struct decoder_config *config, const uint8_t *bytes, size_t size,
			 int (*fn)(void *ctx, size_t version, uint64_t ip, enum branch_gap gap), void *ctx)
{
	struct decoder_config all = *config;
	struct pieces pieces;
	struct lister lister = {.hold = {.code = &pieces.code}, .fn = fn, .ctx = ctx};
	int err;

	all.functions = (struct decoder_functions){0};
	err = pieces_init(&pieces, &all, bytes, size);
	if (err)
		return err;
	for (size_t i = 0; i < pieces.cnt && !err; i++)
		err = decode_piece(&pieces, i, &lister);
	if (!pieces.cnt && size && !err)
		err = fn(ctx, 0, 0, GAP_BAD_TRACE);
	code_give(&pieces.code, lister.images);
	pieces_release(&pieces);
	return err;
}
