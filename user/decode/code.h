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
	size_t users;	/* decoders */
	size_t used_at; /* by code->uses */
};

struct code {
	const struct decoder_config *config;
	struct code_image_set *sets; /* by image; those that are made have `image` */
	size_t *made;		     /* indices */
	size_t made_cnt, made_cap;
	size_t uses;
	pthread_mutex_t lock; /* guards the sets but for what a user reads */
};

/* `config` must outlive the code. 0 or -ENOMEM. */
int code_init(struct code *code, const struct decoder_config *config);
void code_release(struct code *code);

/*
 * The version in force at `tsc`: the last that begins at or before it, else the first; 0 if there are none.
 */
size_t code_version_at(const struct code *code, uint64_t tsc);

/* The version of tracing that begins at `tsc`. */
size_t code_version_enabled_at(const struct code *code, uint64_t tsc);

/*
 * Takes the image of a version in place of *set, which is given back; NULL: it is the first. Sections that
 * cannot be read are left out. A program that makes code has thousands of images with thousands of sections
 * each, so only some of those that nobody has are kept. 0, or -ENOMEM with *set unchanged and a sentence.
 */
int code_take(struct code *code, size_t version, const struct code_image_set **set);

/* `set` may be NULL. */
void code_give(struct code *code, const struct code_image_set *set);

/* The index of the image in the configuration. */
static inline size_t code_image_nth(const struct code *code, const struct code_image_set *set)
{
	return (size_t)(set - code->sets);
}

/* Whether the address filters exclude `ip`. */
bool code_is_left_out(const struct code_image_set *set, uint64_t ip);

/* The section of the image that covers ip, or NULL. */
struct cached_section *code_section_at(const struct code_image_set *set, uint64_t ip);

/* An image reserved for one decoder. All but `code` 0: none. */
struct code_hold {
	struct code *code;
	const struct code_image_set *set;
	struct pt_image *image;
};

/* Switches to the version's image. 1: it changed, so tell the decoder; 0: it is the same; -ENOMEM. */
int code_hold(struct code_hold *hold, size_t version);
void code_let_go(struct code_hold *hold);
