/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every PSB begins a piece. Bytes before the first PSB are the rest of overwritten packets, and are skipped.
 * A piece is decoded with the code version in force at its PSB's TSC; a piece without a TSC has the version
 * of the piece before it.
 */
#include "decode/pieces.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "decode/libipt/setup.h"

enum { PADDING = 32 };

static int read_header(struct pieces *pieces, size_t index)
{
	struct pt_packet_decoder *packets;
	struct pt_config config;

	pieces_setup(pieces, index, &config);
	packets = pt_pkt_alloc_decoder(&config);
	if (!packets)
		return fail(-ENOMEM, "no memory for a packet decoder");
	psb_header_read(packets, 0, &pieces->items[index].header);
	pt_pkt_free_decoder(packets);
	return 0;
}

static int read_headers(struct pieces *pieces)
{
	uint64_t tsc = 0;
	size_t passed = 0;
	int err = 0;

	for (size_t i = 0; i < pieces->cnt && !err; i++) {
		struct piece *piece = &pieces->items[i];

		err = read_header(pieces, i);
		if (piece->header.has_tsc)
			tsc = piece->header.tsc;
		piece->version = code_version_at(&pieces->code, tsc);
		psb_pass(pieces->config, piece->begin, &passed);
	}
	return err;
}

static int copy_last(struct pieces *pieces)
{
	const struct piece *last = &pieces->items[pieces->cnt - 1];

	pieces->last_bytes = calloc(1, last->end - last->begin + PADDING);
	if (!pieces->last_bytes)
		return fail(-ENOMEM, "no memory for a piece of %zu bytes", last->end - last->begin);
	memcpy(pieces->last_bytes, pieces->bytes + last->begin, last->end - last->begin);
	return 0;
}

static int cut(struct pieces *pieces, size_t size)
{
	CLEANUP(freep) size_t *offsets = NULL;
	size_t cnt;
	int err = decoder_find_psbs(pieces->config, pieces->bytes, size, &offsets, &cnt);

	if (err)
		return err;
	pieces->items = calloc(cnt + 1, sizeof(*pieces->items));
	if (!pieces->items)
		return fail(-ENOMEM, "no memory for %zu pieces", cnt);
	for (size_t i = 0; i < cnt; i++) {
		pieces->items[i].begin = offsets[i];
		pieces->items[i].end = i + 1 < cnt ? offsets[i + 1] : size;
	}
	pieces->cnt = cnt;
	return 0;
}

int pieces_init(struct pieces *pieces, const struct decoder_config *config, const uint8_t *bytes, size_t size)
{
	int err;

	*pieces = (struct pieces){.config = config, .bytes = bytes};
	err = code_init(&pieces->code, config);
	if (err)
		return err;
	err = cut(pieces, size);
	if (!err && pieces->cnt)
		err = copy_last(pieces);
	if (!err)
		err = read_headers(pieces);
	if (err)
		pieces_release(pieces);
	return err;
}

void pieces_release(struct pieces *pieces)
{
	code_release(&pieces->code);
	free(pieces->last_bytes);
	free(pieces->items);
}

const uint8_t *pieces_bytes(const struct pieces *pieces, size_t index)
{
	return index + 1 == pieces->cnt ? pieces->last_bytes : pieces->bytes + pieces->items[index].begin;
}

void pieces_setup(const struct pieces *pieces, size_t index, struct pt_config *ret_config)
{
	const struct piece *piece = &pieces->items[index];
	uint8_t *begin = (uint8_t *)pieces_bytes(pieces, index); /* libipt only reads */

	setup_config(ret_config, pieces->config->params, begin, begin + (piece->end - piece->begin));
}

bool pieces_limit(const struct pieces *pieces, size_t index, uint64_t *ret_ip)
{
	const struct piece *next = &pieces->items[index + 1];

	if (index + 1 >= pieces->cnt || !next->header.has_ip)
		return false;
	*ret_ip = next->header.ip;
	return true;
}
