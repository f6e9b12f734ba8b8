/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stands behind decoder_cache_new() in decode/decoder.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "decode/graph.h"

struct code_section;
struct decoder_cache;
struct pt_image_section_cache;

/* A section that is mapped. It lives as long as its cache. */
struct cached_section {
	int isid; /* libipt's number of it, > 0 */
	uint64_t addr;
	const uint8_t *bytes;
	size_t size; /* less than asked for where the file is shorter */
	void *map;
	size_t map_size;
	struct graph graphs[2]; /* of its code in 32- and in 64-bit mode */
};

/*
 * Maps a section, or finds it mapped already. Thread-safe. 0; -ENOMEM; another error where the file cannot be
 * read or has nothing at that offset: the code is unknown then. All with a sentence.
 */
int decoder_cache_add(struct decoder_cache *cache, const struct code_section *section,
		      struct cached_section **ret_section);

struct pt_image_section_cache *decoder_cache_iscache(struct decoder_cache *cache);

/* A piece was decoded; `why` is NULL where the fast decoder did it. Thread-safe. */
void decoder_cache_count(struct decoder_cache *cache, size_t bytes, const char *why);
