/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/bytes/zstd_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/write_all.h"

enum { LEVEL = 3, OUT_BYTES = 1 << 17 };

struct zstd_file {
	int fd;
	ZSTD_CCtx *context;
	uint8_t out[OUT_BYTES];
};

int zstd_file_new(struct zstd_file **ret_file, int fd)
{
	struct zstd_file *file = malloc(sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->fd = fd;
	file->context = ZSTD_createCCtx();
	if (!file->context) {
		free(file);
		return -ENOMEM;
	}
	ZSTD_CCtx_setParameter(file->context, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(file->context, ZSTD_c_checksumFlag, 1);
	/* Refused by a library without threads, which does it at once then. */
	ZSTD_CCtx_setParameter(file->context, ZSTD_c_nbWorkers, 1);
	*ret_file = file;
	return 0;
}

void zstd_file_free(struct zstd_file *file)
{
	if (!file)
		return;
	ZSTD_freeCCtx(file->context);
	free(file);
}

int zstd_file_push(struct zstd_file *file, const void *bytes, size_t size, bool is_last)
{
	ZSTD_inBuffer in = {bytes, size, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {file->out, OUT_BYTES, 0};
		int err;

		left = ZSTD_compressStream2(file->context, &out, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return -EIO;
		err = write_all(file->fd, file->out, out.pos);
		if (err)
			return err;
	} while (is_last ? left : in.pos < in.size);
	return 0;
}
