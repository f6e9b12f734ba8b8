/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

#include <string.h>

#include "base/edit_distance.h"
#include "base/on_line.h"
#include "cli/cli.h"
#include "cli/complete.h"

static const struct command *find(const struct commands *commands, const char *name)
{
	for (size_t i = 0; i < commands->cnt; i++)
		if (!strcmp(name, commands->items[i].name))
			return &commands->items[i];
	return NULL;
}

void commands_print(const struct commands *commands, FILE *file)
{
	size_t width = 0;

	for (size_t i = 0; i < commands->cnt; i++)
		if (strlen(commands->items[i].name) > width)
			width = strlen(commands->items[i].name);
	fprintf(file, "Commands (%s COMMAND --help says more):\n", commands->of);
	for (size_t i = 0; i < commands->cnt; i++)
		fprintf(file, "  %-*s  %s\n", (int)width, commands->items[i].name,
			commands->items[i].summary);
}

static const char *similar_command(const struct commands *commands, const char *name)
{
	const char *best = NULL;
	size_t best_distance = 1 + strlen(name) / 3;

	for (size_t i = 0; i < commands->cnt; i++) {
		size_t distance = edit_distance(name, commands->items[i].name);

		if (distance > best_distance || (best && distance == best_distance))
			continue;
		best = commands->items[i].name;
		best_distance = distance;
	}
	return best;
}

static int unknown_command(const struct commands *commands, const char *name)
{
	const char *similar = similar_command(commands, name);

	fprintf(stderr, "%s: there is no command '", commands->of);
	on_line_put(name, stderr);
	fprintf(stderr, "'; the commands are");
	for (size_t i = 0; i < commands->cnt; i++)
		fprintf(stderr, "%s %s", i ? "," : "", commands->items[i].name);
	if (similar)
		fprintf(stderr, "; did you mean '%s'?", similar);
	fprintf(stderr, " (%s --help shows examples)\n", commands->of);
	return STATUS_USAGE;
}

int commands_run(const struct commands *commands, int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct command *command = name ? find(commands, name) : NULL;
	char full_name[64];

	if (!name) {
		commands->print_help(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "help") || !strcmp(name, "-h")) {
		commands->print_help(stdout);
		return STATUS_OK;
	}
	if (!command)
		return unknown_command(commands, name);
	snprintf(full_name, sizeof(full_name), "%s %s", commands->of, command->name);
	argv[1] = full_name;
	argp_err_exit_status = STATUS_USAGE;
	return command->run(argc - 1, argv + 1);
}

int commands_complete(const struct commands *commands, int cursor, int argc, char **argv)
{
	const struct command *command = argc > 0 ? find(commands, argv[0]) : NULL;
	char text[16];

	for (size_t i = 0; argc > 0 && !cursor && i < commands->cnt; i++)
		if (!strncmp(commands->items[i].name, argv[0], strlen(argv[0])))
			printf("%s\t%s\n", commands->items[i].name, commands->items[i].summary);
	if (!command || cursor < 1)
		return STATUS_OK;
	snprintf(text, sizeof(text), "%d", cursor + 1); /* there the first word is number 2 */
	argv[-1] = (char *)COMPLETE_WORD;
	argv[0] = text;
	return command->run(argc + 2, argv - 2);
}
