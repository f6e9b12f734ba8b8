/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of files and functions are told once: each side keeps the last 31 files in the order of their last
 * use, and with each of them the last 31 functions. A name that is among them is its place, 0 being the
 * latest; one that is not is 31 and the text, and pushes out the one at the end.
 *
 * A file that comes in takes over the functions' table of the one that it pushes out. The writer empties it;
 * the reader must not: the writer of version 1 went on with it.
 */
#pragma once

#include <stddef.h>

enum { CTF_MTF_SIZE = 31, CTF_MTF_NEW = CTF_MTF_SIZE };

struct ctf_names {
	const char *texts[CTF_MTF_SIZE]; /* from the latest on; NULL: not used yet */
};

struct ctf_files {
	struct ctf_names names;
	struct ctf_names *functions[CTF_MTF_SIZE]; /* each file's */
	struct ctf_names tables[CTF_MTF_SIZE];
};

/* Where the text is; CTF_MTF_NEW: nowhere. */
unsigned int ctf_names_find(const struct ctf_names *names, const char *text);

/* Makes the text at `place` the latest, and returns it. NULL: there is none. */
const char *ctf_names_use(struct ctf_names *names, unsigned int place);

/* A new text comes first. Returns the one that falls off the end, or NULL. */
const char *ctf_names_push(struct ctf_names *names, const char *text);

/* The same for files. */
const char *ctf_files_use(struct ctf_files *files, unsigned int place);
const char *ctf_files_push(struct ctf_files *files, const char *text);
