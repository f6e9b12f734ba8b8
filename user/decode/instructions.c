/* SPDX-License-Identifier: BSD-2-Clause */
/* libipt's instruction decoder over the same pieces: one thread, every instruction, nothing cached. */
#include <intel-pt.h>

#include "base/error.h"
#include "decode/pieces.h"
#include "decode/status.h"
#include "decode/walk.h"

struct lister {
	struct pt_insn_decoder *decoder;
	struct code_hold hold;
	size_t version;
	uint64_t limit_ip;
	bool has_limit;
	struct walk walk;
	int (*fn)(void *ctx, size_t version, uint64_t ip, enum branch_gap gap);
	void *ctx;
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
		return use_version(lister, code_version_at(lister->hold.code, event->tsc));
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
			if (in_tail && lister->has_limit && insn.ip == lister->limit_ip)
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
			return on_error(lister, status);
	}
}

static int decode_piece(struct pieces *pieces, size_t index, struct lister *lister)
{
	struct pt_config config;
	int err;

	pieces_setup(pieces, index, &config);
	lister->walk = (struct walk){0};
	lister->has_limit = pieces_limit(pieces, index, &lister->limit_ip);
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

int decoder_instructions(const struct decoder_config *config, const uint8_t *bytes, size_t size,
			 int (*fn)(void *ctx, size_t version, uint64_t ip, enum branch_gap gap), void *ctx)
{
	struct pieces pieces;
	struct lister lister = {.hold = {.code = &pieces.code}, .fn = fn, .ctx = ctx};
	int err = pieces_init(&pieces, config, bytes, size);

	if (err)
		return err;
	for (size_t i = 0; i < pieces.cnt && !err; i++)
		err = decode_piece(&pieces, i, &lister);
	if (!pieces.cnt && size && !err)
		err = fn(ctx, 0, 0, GAP_BAD_TRACE);
	pieces_release(&pieces);
	return err;
}
