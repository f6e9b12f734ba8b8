/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a code stands for, as an event: the code, how many locations there are, and each of them as 48 bits
 * and the names that are not among the latest.
 */
#pragma once

#include "ctf/ctf_cursor.h"
#include "ctf/ctf_mtf.h"
#include "ctf/event.h"

enum {
	CTF_LINE_BITS = 20,
	CTF_START_BITS = 8,
	CTF_END_BITS = 10,
	CTF_NAME_BITS = 5,
	CTF_LOCATION_BYTES = 6,
	CTF_LOCATIONS_MAX = UINT8_MAX
};

/* -EBADMSG with a sentence: it names one of the latest that is none. Texts stay where they were read. */
int ctf_location_get(struct memtrace_location *location, struct ctf_cursor *cursor, struct ctf_files *files);

/* An event takes so much at most; what would take more is written as one unknown place. */
enum { CTF_LOCATIONS_BYTES = 4096 };

/*
 * Writes the code and what it stands for: at most CTF_LOCATIONS_BYTES, to where there is room. Returns what
 * is behind; NULL: no memory. Numbers that do not fit become the largest that do. `files` has copies of the
 * texts, ctf_files_free() frees them.
 */
uint8_t *ctf_locations_put(uint8_t *at, struct ctf_files *files, uint64_t code,
			   const struct memtrace_location *locations, size_t cnt);
void ctf_files_free(struct ctf_files *files);
