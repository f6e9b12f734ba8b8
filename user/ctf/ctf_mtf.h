/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Move-to-front coding of file and function names. Reader and writer each keep the last 31 files in order of
 * last use, and for each file the last 31 functions. A known name is written as its position, 0 being the
 * latest; a new one as 31 and the text, which drops the last name.
 *
 * A new file takes over the function table of the file that it drops. The writer empties that table. The
 * reader must not, because the writer of version 1 kept using it.
 */
#pragma once

#include <stddef.h>

enum { CTF_MTF_SIZE = 31, CTF_MTF_NEW = CTF_MTF_SIZE };

struct ctf_names {
	const char *texts[CTF_MTF_SIZE]; /* latest first; NULL: unused */
};

struct ctf_files {
	struct ctf_names names;
	struct ctf_names *functions[CTF_MTF_SIZE]; /* of each file */
	struct ctf_names tables[CTF_MTF_SIZE];
};

/* The position of the text; CTF_MTF_NEW: not there. */
unsigned int ctf_names_find(const struct ctf_names *names, const char *text);

/* Moves the text at `place` to the front and returns it. NULL: there is none. */
const char *ctf_names_use(struct ctf_names *names, unsigned int place);

/* Inserts a text at the front. Returns the text that drops out, or NULL. */
const char *ctf_names_push(struct ctf_names *names, const char *text);

/* The same for files. */
const char *ctf_files_use(struct ctf_files *files, unsigned int place);
const char *ctf_files_push(struct ctf_files *files, const char *text);
