/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a shell can offer at the cursor. Its completion script calls
 *
 *	trailcam __complete CURSOR trailcam COMMAND WORD...
 *
 * with the words of the command line, all of them, and the index of the one that is being typed. Each line of
 * the answer is a word and, after a tab, what it means; ":program" alone asks for the names of programs. No
 * line: file names.
 */
#pragma once

#include <argp.h>

#define COMPLETE_WORD "__complete"

/*
 * Prints what can stand at the cursor in the words of a command. argv is "COMMAND __complete CURSOR WORD...";
 * the cursor counts from "trailcam" on, so that the first WORD is 2. What cannot be looked up is not offered:
 * nothing is said on stderr.
 */
void complete_options(const struct argp *argp, int argc, char **argv, unsigned int flags);
