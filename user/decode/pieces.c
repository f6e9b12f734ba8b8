/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every PSB begins a piece. What stands before the first one is the rest of packets that were overwritten: it is passed over. The code that a piece
 * is decoded against is the version in force at its PSB's TSC; one without a TSC has that of the piece before it.
 */
#include "decode/pieces.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "decode/setup.h"

enum { PADDING = 32 };

static int read_headers(struct pieces *pieces, size_t size)
{
	struct pt_packet_decoder *packets;
	struct pt_config config;
	uint64_t tsc = 0;

	setup_config(&config, pieces->config->params, pieces->bytes, pieces->bytes + size);
	packets = pt_pkt_alloc_decoder(&config);
	if (!packets)
		return fail(-ENOMEM, "no memory for a packet decoder");
	for (size_t i = 0; i < pieces->cnt; i++) {
		struct piece *piece = &pieces->items[i];

		psb_header_read(packets, piece->begin, &piece->header);
		if (piece->header.has_tsc)
			tsc = piece->header.tsc;
		piece->version = code_version_at(&pieces->code, tsc);
	}
	pt_pkt_free_decoder(packets);
	return 0;
}

static int cut(struct pieces *pieces, size_t size)
{
	CLEANUP(freep) size_t *offsets = NULL;
	size_t cnt;
	int err = decoder_find_psbs(pieces->bytes, size, &offsets, &cnt);

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

	*pieces = (struct pieces){.config = config};
	err = code_init(&pieces->code, config);
	if (err)
		return err;
	pieces->bytes = calloc(1, size + PADDING);
	if (!pieces->bytes) {
		pieces_release(pieces);
		return fail(-ENOMEM, "no memory for a trace of %zu bytes", size);
	}
	if (size)
		memcpy(pieces->bytes, bytes, size);
	err = cut(pieces, size);
	if (!err && pieces->cnt)
		err = read_headers(pieces, size);
	if (err)
		pieces_release(pieces);
	return err;
}

void pieces_release(struct pieces *pieces)
{
	code_release(&pieces->code);
	free(pieces->bytes);
	free(pieces->items);
}

void pieces_setup(const struct pieces *pieces, size_t index, struct pt_config *ret_config)
{
	setup_config(ret_config, pieces->config->params, pieces->bytes + pieces->items[index].begin,
		     pieces->bytes + pieces->items[index].end);
}

bool pieces_limit(const struct pieces *pieces, size_t index, uint64_t *ret_ip)
{
	const struct piece *next = &pieces->items[index + 1];

	if (index + 1 >= pieces->cnt || !next->header.has_ip)
		return false;
	*ret_ip = next->header.ip;
	return true;
}
