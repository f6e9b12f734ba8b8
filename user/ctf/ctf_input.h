/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a trace: a file that is mapped, or what can only be read, which lies in memory that may be
 * spilled (base/spill.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctf_input {
	const uint8_t *bytes;
	size_t size;
	uint8_t *owned; /* bytes, where they were read */
	size_t cap;
	bool mapped;
};

/* "-": standard input. -errno with a sentence that names the path. */
int ctf_input_open(struct ctf_input *ret_input, const char *path);
void ctf_input_release(struct ctf_input *input);
