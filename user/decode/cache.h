/* SPDX-License-Identifier: BSD-2-Clause */
/* The implementation of decoder_cache_new() (decode/decoder.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "decode/code_insn.h"
#include "decode/graph.h"

struct code_section;
struct decoder_cache;
struct pt_image_section_cache;

/* A mapped section. It lives as long as its cache. */
struct cached_section {
	int isid;		    /* libipt's section number, > 0 */
	struct code_section wanted; /* the path is its own */
	uint64_t addr;
	const uint8_t *bytes;
	size_t size;		/* less than requested if the file is shorter */
	struct graph graphs[2]; /* of its code, in 32-bit and 64-bit mode */
};

/* As code_insn_decode(), of the section's bytes at ip. False: `section` is NULL, or ends before. */
static inline bool cached_section_insn(const struct cached_section *section, uint64_t ip, bool is_64,
				       struct code_insn *ret_insn)
{
	uint64_t at = section ? ip - section->addr : 0;

	if (!section || at >= section->size)
		return false;
	code_insn_decode(ret_insn, section->bytes + at, section->size - at, is_64);
	return true;
}

/*
 * The last bytes of a section and the first ones of that which an image has behind it: an instruction may be
 * in both. Code that was copied page by page has many.
 */
struct seam {
	const struct cached_section *before, *behind;
	uint8_t bytes[2 * CODE_INSN_MAX];
	struct graph graphs[2];
};

/* `behind`: NULL: there is none. Thread-safe. NULL: no memory. */
struct seam *decoder_cache_seam(struct decoder_cache *cache, const struct cached_section *before,
				const struct cached_section *behind);

/*
 * Maps a section, or finds it mapped already. Thread-safe. With a sentence: -ENOMEM; another error: the file
 * cannot be read or has nothing at that offset, so the code is unknown.
 */
int decoder_cache_add(struct decoder_cache *cache, const struct code_section *section,
		      struct cached_section **ret_section);

/* The one of that number, or NULL. Thread-safe. */
const struct cached_section *decoder_cache_section(struct decoder_cache *cache, int isid);

/* The store of all graphs. */
const struct graph_store *decoder_cache_store(const struct decoder_cache *cache);

struct pt_image_section_cache *decoder_cache_iscache(struct decoder_cache *cache);

/* Counts a decoded piece; `why` is the reason if the fast decoder declined it, else NULL. Thread-safe. */
void decoder_cache_count(struct decoder_cache *cache, size_t bytes, const char *why);
