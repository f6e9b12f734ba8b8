/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory with the entries of a map: one of the BPF programs, or our own in the same shape. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct bpf_map;

struct mapped {
	uint8_t *bytes;
	size_t size, each; /* of an entry */
};

/* That map, to be read. 0, or -errno with a sentence. */
int mapped_map(struct mapped *ret_mapped, const struct bpf_map *map);

/* `cnt` entries of `each` bytes, all 0. 0, or -errno with a sentence. */
int mapped_new(struct mapped *ret_mapped, size_t each, size_t cnt);

/* May be all 0. */
void mapped_release(struct mapped *mapped);
