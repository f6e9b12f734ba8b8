/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of commands: of trailcam, or of a command with subcommands. */
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

/* Prints a line for each, for --help. */
void commands_print(const struct commands *commands, FILE *file);

/*
 * Runs the command that argv[1] names, with "trailcam NAME" as its argv[0] and STATUS_USAGE as
 * argp_err_exit_status, and returns its status. Answers --help. If the name is missing or
 * wrong, prints the nearest name or all of them, and returns STATUS_USAGE.
 */
int commands_run(const struct commands *commands, int argc, char **argv);

/*
 * Prints completions (cli/complete.h). argv[0] is the command's name, and the cursor is on argv[cursor].
 * Overwrites the two words before argv[0].
 */
int commands_complete(const struct commands *commands, int cursor, int argc, char **argv);
