/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of one process as one decode sees it: its versions, each as a libipt image, and the raw bytes. Thread-safe
 * after code_init().
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/cache.h"
#include "decode/decoder.h"

struct pt_image;

struct code_image_set {
	const struct cached_section **sections; /* those that could be read */
	size_t section_cnt, section_cap;
	struct pt_image **idle; /* images of this version that no decoder uses */
	size_t idle_cnt, idle_cap;
};

struct code {
	struct decoder_cache *cache;
	const struct code_version *versions;
	size_t version_cnt;
	struct code_image_set *sets;		/* by version */
	const struct cached_section **sections; /* by isid; NULL where not of this process */
	size_t section_cnt, section_cap;
	pthread_mutex_t lock; /* guards the idle images */
};

/* `versions` must outlive the code. Sections that cannot be read are left out. 0 or -ENOMEM. */
int code_init(struct code *code, struct decoder_cache *cache, const struct code_version *versions,
	      size_t cnt);
void code_release(struct code *code);

/* The version in force at `tsc`: the last that begins at or before it, else the first; 0 also where there are none. */
size_t code_version_at(const struct code *code, uint64_t tsc);

/* An image of the version for one decoder alone, to be given back. 0 or -ENOMEM. */
int code_take_image(struct code *code, size_t version, struct pt_image **ret_image);
void code_give_image(struct code *code, size_t version, struct pt_image *image);

/* The bytes known at `ip` in libipt's section `isid`; NULL where none. They end with the section. */
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
