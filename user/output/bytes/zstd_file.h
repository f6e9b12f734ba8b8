/* SPDX-License-Identifier: BSD-2-Clause */
/* A zstd file (RFC 8878), compressed on a thread of libzstd's: smaller than gzip, and quicker to read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct zstd_file;

/* `fd` stays the caller's. 0 or -ENOMEM. */
int zstd_file_new(struct zstd_file **ret_file, int fd);

/* Gives up what is not written yet. */
void zstd_file_free(struct zstd_file *file);

/* Takes these bytes. 0, or the error of write(2); with is_last, all is written then. */
int zstd_file_push(struct zstd_file *file, const void *bytes, size_t size, bool is_last);
