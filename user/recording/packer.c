/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf unpacks each record by itself, into room for PACKER_PIECE bytes, and takes one that gives nothing for
 * damaged. So each piece is flushed into a record of its own, and the stream ends with the last piece, not
 * behind it: there stands a sum of all bytes.
 */
#include "recording/packer.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "recording/perf_data.h"

struct packer {
	FILE *file;
	ZSTD_CCtx *zstd;
	int err;
	size_t used;
	uint8_t piece[PACKER_PIECE];
	struct {
		struct perf_event_header header;
		uint8_t bytes[ZSTD_COMPRESSBOUND(PACKER_PIECE) + 64 /* the frame's begin and end */];
	} record;
};

_Static_assert(sizeof(((struct packer *)NULL)->record) <= UINT16_MAX, "the length has 16 bits");

int packer_new(struct packer **ret_packer, FILE *file)
{
	struct packer *packer = malloc(sizeof(*packer));

	if (!packer)
		return -ENOMEM;
	packer->file = file;
	packer->zstd = ZSTD_createCCtx();
	packer->err = 0;
	packer->used = 0;
	packer->record.header = (struct perf_event_header){.type = PERF_USER_COMPRESSED};
	if (!packer->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_checksumFlag, 1))) {
		packer_free(packer);
		return -ENOMEM;
	}
	*ret_packer = packer;
	return 0;
}

static void pack(struct packer *packer, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = {packer->piece, packer->used, 0};
	ZSTD_outBuffer out = {packer->record.bytes, sizeof(packer->record.bytes), 0};

	if (!packer->err && ZSTD_compressStream2(packer->zstd, &out, &in, how))
		packer->err = -EIO; /* an error, or there is more: there was room for all */
	packer->record.header.size = (uint16_t)(sizeof(packer->record.header) + out.pos);
	fwrite(&packer->record, packer->record.header.size, 1, packer->file);
	packer->used = 0;
}

void packer_put(struct packer *packer, const void *bytes, size_t size)
{
	while (size) {
		size_t room = sizeof(packer->piece) - packer->used, part = size < room ? size : room;

		if (!part) {
			pack(packer, ZSTD_e_flush);
			continue;
		}
		memcpy(packer->piece + packer->used, bytes, part);
		packer->used += part;
		bytes = (const uint8_t *)bytes + part;
		size -= part;
	}
}

int packer_finish(struct packer *packer)
{
	pack(packer, ZSTD_e_end);
	return packer->err;
}

void packer_free(struct packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->zstd);
	free(packer);
}
