/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of a trace: a mapped file, or a stream read into memory that may spill (base/spill.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctf_input {
	const uint8_t *bytes;
	size_t size;
	uint8_t *owned; /* `bytes` if read from a stream */
	size_t cap;
	bool mapped;
};

/* Opens `path`; "-": standard input. 0, or -errno with a sentence that names the path. */
int ctf_input_open(struct ctf_input *ret_input, const char *path);
void ctf_input_release(struct ctf_input *input);
