/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The locations of a code, as an event: the code, the number of locations, and for each 48 bits and the names
 * that are not among the latest.
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

/*
 * Reads a location. -EBADMSG with a sentence: it refers to a name that was not given. Texts point into the
 * input.
 */
int ctf_location_get(struct memtrace_location *location, struct cursor *cursor, struct ctf_files *files);

/* The maximum size of an event; a longer one is written as one unknown place. */
enum { CTF_LOCATIONS_BYTES = 4096 };

/*
 * Writes the code and its locations at `at`, which has room for CTF_LOCATIONS_BYTES. Returns the end; NULL:
 * out of memory. Numbers that do not fit are clamped. `files` keeps copies of the texts; ctf_files_free()
 * frees them.
 */
uint8_t *ctf_locations_put(uint8_t *at, struct ctf_files *files, uint64_t code,
			   const struct memtrace_location *locations, size_t cnt);
void ctf_files_free(struct ctf_files *files);
