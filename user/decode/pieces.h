/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream cut at its PSBs into pieces. */
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
	uint8_t *last_bytes;  /* a padded copy of the last piece, since decoders read past the end */
	struct piece *items;
	size_t cnt;
	struct code code;
	const struct decoder_config *config;
};

int pieces_init(struct pieces *pieces, const struct decoder_config *config, const uint8_t *bytes,
		size_t size);
void pieces_release(struct pieces *pieces);

/* The bytes of one piece; some bytes after it are readable. */
const uint8_t *pieces_bytes(const struct pieces *pieces, size_t index);

/* libipt's configuration for one piece. */
void pieces_setup(const struct pieces *pieces, size_t index, struct pt_config *ret_config);

/*
 * The address where decoding of the piece must end. After the last packet a decoder continues as long as it
 * needs no packet, into the next piece. *ret_ip is the first instruction of the next piece. False: no limit.
 */
bool pieces_limit(const struct pieces *pieces, size_t index, uint64_t *ret_ip);
