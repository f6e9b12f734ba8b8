/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assigns codes to addresses in a process: numbers from 1, one for each place in a file, wherever and
 * whenever it is mapped. The locations of a code are looked up when it is assigned, while the process exists.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "ctf/event.h"

struct frame_codes;
struct image;
struct image_objects;

/* `image` and `objects` must outlive the table. 0 or -ENOMEM. */
int frame_codes_new(struct frame_codes **ret_table, struct image *image, struct image_objects *objects);
void frame_codes_free(struct frame_codes *table);

/* The code of the call that returns to `ip`, in a version of the image. 0: out of memory. */
uint64_t frame_codes_get(struct frame_codes *table, size_t version, uint64_t ip);

/* The code of a made-up place, for events without a call stack: "[lost records]". 0: out of memory. */
uint64_t frame_codes_make(struct frame_codes *table, const char *name);

/*
 * Whether the function only allocates for its caller: malloc, operator new and the like, and the wrappers of
 * C++ and common libraries.
 */
bool frame_codes_is_wrapper(const struct frame_codes *table, uint64_t code);
bool frame_is_wrapper_name(const char *name);

/* The locations of a code, at least one. For memtrace_writer_config. */
int frame_codes_locate(void *table, uint64_t code, const struct memtrace_location **ret_locations);

DEFINE_CLEANUP(struct frame_codes *, frame_codes_free)
