/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>
#include <string.h>

/* The part of `path` after its last slash. */
static inline const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether the first `len` bytes of `path` end in `suffix`, with at least one byte before it. */
static inline bool path_ends_in(const char *path, size_t len, const char *suffix)
{
	size_t suffix_len = strlen(suffix);

	return len > suffix_len && !memcmp(path + len - suffix_len, suffix, suffix_len);
}
