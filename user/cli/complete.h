/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions for shells. The completion script calls
 *
 * 	trailcam __complete CURSOR trailcam COMMAND WORD...
 *
 * with the words of the command line, all of them, and the index of the one that is being typed. Each line of
 * the answer is a word and, after a tab, its meaning. A line ":program" means: complete names of programs. No
 * line means: complete file names.
 */
#pragma once

#include <argp.h>

#define COMPLETE_WORD "__complete"

/*
 * Prints the candidates for the word at the cursor. argv is "COMMAND __complete CURSOR WORD..."; the cursor
 * counts from "trailcam", so that the first WORD is 2. Failed look-ups give no candidates, and no message.
 */
void complete_options(const struct argp *argp, int argc, char **argv, unsigned int flags);
