/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses in a process become the codes of a trace: numbers from 1 on, one for each place in a file,
 * wherever and whenever it is mapped. What a code stands for is looked up when it is given out, while the
 * process is there.
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

/* Both must outlive the table. 0 or -ENOMEM. */
int frame_codes_new(struct frame_codes **ret_table, struct image *image, struct image_objects *objects);
void frame_codes_free(struct frame_codes *table);

/* The code of a call that returns to `ip`, in a version of the image. 0: no memory. */
uint64_t frame_codes_get(struct frame_codes *table, size_t version, uint64_t ip);

/* The code of a place that is none, for what has no call stack: "[lost records]". 0: no memory. */
uint64_t frame_codes_make(struct frame_codes *table, const char *name);

/*
 * Whether the function does nothing but allocate for its caller: malloc and operator new in their many forms,
 * and what C++ and common libraries wrap them in.
 */
bool frame_codes_is_wrapper(const struct frame_codes *table, uint64_t code);
bool frame_is_wrapper_name(const char *name);

/* Where the code is; at least one place. For memtrace_writer_config. */
int frame_codes_locate(void *table, uint64_t code, const struct memtrace_location **ret_locations);

DEFINE_CLEANUP(struct frame_codes *, frame_codes_free)
