/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream cut at its PSBs, ready to be decoded piece by piece. */
#pragma once

#include "decode/code.h"
#include "decode/decoder.h"
#include "decode/psb.h"

struct pt_config;

struct piece {
	size_t begin, end; /* bytes of the stream */
	struct psb_header header;
	size_t version; /* of the code */
};

struct pieces {
	const uint8_t *bytes; /* of the stream */
	uint8_t *last_bytes;  /* a copy of the last piece, padded: decoders read past the end */
	struct piece *items;
	size_t cnt;
	struct code code;
	const struct decoder_config *config;
};

int pieces_init(struct pieces *pieces, const struct decoder_config *config, const uint8_t *bytes,
		size_t size);
void pieces_release(struct pieces *pieces);

/* The bytes of one piece; some more can be read behind them. */
const uint8_t *pieces_bytes(const struct pieces *pieces, size_t index);

/* libipt's configuration for one piece. */
void pieces_setup(const struct pieces *pieces, size_t index, struct pt_config *ret_config);

/*
 * Where the piece must end: behind its last packet a decoder walks on as far as no packet is needed, into
 * what the next piece begins with. *ret_ip is the next piece's first instruction. False: there is no such
 * limit.
 */
bool pieces_limit(const struct pieces *pieces, size_t index, uint64_t *ret_ip);
