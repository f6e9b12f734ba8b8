/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of commands, of trailcam or of one of its commands that has some itself. */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct commands {
	const char *of; /* "trailcam": whose they are */
	const struct command {
		const char *name;
		int (*run)(int argc, char **argv);
		const char *summary;
	} * items;
	size_t cnt;
	void (*print_help)(FILE *file);
};

/* A line for each: for print_help. */
void commands_print(const struct commands *commands, FILE *file);

/*
 * Runs the command that argv[1] names and returns its status. --help is answered; without a name, or with one
 * that is none, what is meant or what there is is said, and STATUS_USAGE returned.
 */
int commands_run(const struct commands *commands, int argc, char **argv);

/*
 * What a shell can offer (cli/complete.h) where argv[0] is the command's name and the cursor on argv[cursor].
 * The two words before argv[0] are overwritten.
 */
int commands_complete(const struct commands *commands, int cursor, int argc, char **argv);
