/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of one stream for one decode: its images (each as a libipt image), the times when they are in
 * force, and the raw bytes. Thread-safe after code_init().
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/cache.h"
#include "decode/decoder.h"

struct pt_image;

struct code_image_set {
	const struct code_image *image;
	struct cached_section **sections; /* the readable ones */
	size_t section_cnt, section_cap;
	struct cached_section **by_addr; /* the same, sorted */
	bool overlap;			 /* later ones hide earlier ones */
	struct pt_image **idle;		 /* images that no decoder uses */
	size_t idle_cnt, idle_cap;
};

struct code {
	const struct decoder_config *config;
	struct code_image_set *sets;		/* by image */
	const struct cached_section **sections; /* by isid; NULL: not of this stream */
	size_t section_cnt, section_cap;
	pthread_mutex_t lock; /* guards the idle images */
};

/* `config` must outlive the code. Unreadable sections are left out. 0 or -ENOMEM. */
int code_init(struct code *code, const struct decoder_config *config);
void code_release(struct code *code);

/*
 * The version in force at `tsc`: the last that begins at or before it, else the first; 0 if there are none.
 */
size_t code_version_at(const struct code *code, uint64_t tsc);

/* The version of tracing that begins at `tsc`. */
size_t code_version_enabled_at(const struct code *code, uint64_t tsc);

/* The image of a version. */
const struct code_image_set *code_images(const struct code *code, size_t version);

/* Whether the address filters exclude `ip`. */
bool code_is_left_out(const struct code_image_set *set, uint64_t ip);

/* The section of the image that covers ip, or NULL. */
struct cached_section *code_section_at(const struct code_image_set *set, uint64_t ip);

/* An image reserved for one decoder. All but `code` 0: none. */
struct code_hold {
	struct code *code;
	struct pt_image *image;
	size_t index;
};

/* Switches to the version's image. 1: it changed, so tell the decoder; 0: it is the same; -ENOMEM. */
int code_hold(struct code_hold *hold, size_t version);
void code_let_go(struct code_hold *hold);

/* The bytes at `ip` in libipt's section `isid`, up to the section's end; NULL: none. */
static inline const uint8_t *code_bytes(const struct code *code, int isid, uint64_t ip, size_t *ret_size)
{
	const struct cached_section *section;

	if (isid <= 0 || (size_t)isid >= code->section_cnt || !(section = code->sections[isid]))
		return NULL;
	if (ip - section->addr >= section->size)
		return NULL;
	*ret_size = section->size - (ip - section->addr);
	return section->bytes + (ip - section->addr);
}
