/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that came later than its mapping, in time order: copies of pages that were changed, and what a JIT
 * compiler says that it made (jitdump). What is unknown of the time between is left unknown.
 */
#pragma once

#include "base/cleanup.h"
#include "base/sort.h"
#include "image/image.h"
#include "model/sideband.h"
#include "model/snapshot.h"

struct late_section {
	struct sort_key key; /* since when, on the recording's clock */
	int32_t pid;
	struct image_section section; /* object NULL: that of the mapping there */
};

struct late_jit {
	int32_t pid;
	struct jit_symbols symbols;
};

struct late_code {
	struct late_section *items;
	size_t cnt, cap, next;
	struct late_jit *jits;
	size_t jit_cnt, jit_cap;
	uint64_t trace_ns; /* before, nothing was traced */
};

/* `late` is empty; the snapshot must outlive it. 0 or -ENOMEM. */
int late_code_read(struct late_code *late, const struct snapshot *snapshot);
void late_code_release(struct late_code *late);

/* The next one that came at or before until_ns, or NULL. */
const struct late_section *late_code_next(struct late_code *late, uint64_t until_ns);

/* Puts it into the image of its process, whose mappings are those of then. 0 or -ENOMEM. */
int late_code_lay(const struct late_code *late, const struct late_section *next, struct image *image);

/*
 * A mapping has appeared: puts in what a compiler made there before, which may write of code before it allows
 * it to be executed. 0 or -ENOMEM.
 */
int late_code_lay_again(const struct late_code *late, int32_t pid, const struct sideband_mapping *mapping,
			struct image *image);

/* The bytes of a copy. */
struct image_section late_code_section(const struct code_copy *copy);
