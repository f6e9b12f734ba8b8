/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion has no tables of its own: options and the kinds of their values come from argp's tables, as in
 * --help. "auto|step" is a choice, PLACE a symbol of the program on the command line, PID a process.
 */
#include "cli/complete.h"

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/on_line.h"
#include "cli/option_table.h"
#include "cli/process_list.h"
#include "elf/elf_file.h"
#include "output/sink.h"
#include "probe/list.h"
#include "process/program.h"
#include "source/samples/events.h"
#include "trigger/trigger.h"

struct completion {
	const struct argp *argp;
	char **words; /* of the command, in one piece each */
	size_t cnt, cursor;
	/* From the words before and after the cursor: */
	const struct argp_option *option; /* the option whose value the cursor is on; or NULL */
	bool no_options;		  /* "--" is before the cursor */
	bool is_programs;		  /* the cursor is on a word of the traced program */
	size_t place;			  /* how many words before the cursor are not options */
	const char *file;		  /* the first such word: the program, the file */
	const char *pids;
	/* What precedes each candidate in its word: "--source=", "1,2,". */
	const char *word;
	size_t head_len;
};

static void offer(const struct completion *c, const char *text, size_t len, const char *meaning)
{
	const char *typed = c->word + c->head_len;

	/* Candidates with line ends or control characters are left out. */
	if (on_line_plain(text) < len || meaning[on_line_plain(meaning)])
		return;
	if (!strncmp(text, typed, strlen(typed)) && len >= strlen(typed))
		printf("%.*s%.*s\t%s\n", (int)c->head_len, c->word, (int)len, text, meaning);
}

/* ---- values ---- */

static void offer_choices(const struct completion *c, const char *choices)
{
	while (*choices) {
		size_t len = strcspn(choices, "|");
		bool is_open = len > 3 && !strncmp(choices + len - 3, "...", 3);

		offer(c, choices, len - (is_open ? 3 : 0), "");
		choices += len + (choices[len] == '|');
	}
}

/*
 * Drops parameters if the name is clear without them. Leaves out names that a shell would have to quote.
 */
static int offer_place(void *ctx, const struct trigger_place *place)
{
	const struct completion *c = ctx;
	size_t len = strcspn(place->name, "(");
	char meaning[256] = "";

	if (!len || strcspn(place->name, " ") < len ||
	    (len >= 8 && !strncmp(place->name + len - 8, "operator", 8)))
		return 0;
	if (place->source)
		snprintf(meaning, sizeof(meaning), "%s:%u", place->source, place->line);
	offer(c, place->name, len, meaning);
	return 0;
}

static char *find_exe(const struct completion *c)
{
	char *path = NULL, *binary = NULL;

	if (c->pids)
		return asprintf(&path, "/proc/%d/exe", atoi(c->pids)) < 0 ? NULL : path;
	if (!c->file)
		return NULL;
	if (program_find(c->file, &path))
		return elf_library_find("/proc/self/exe", c->file, &path) ? strdup(c->file) : path;
	if (!program_binary(path, &binary))
		free(path);
	return binary ? binary : path;
}

/* SYM, or FILE:SYM if there is such a file. */
static void offer_symbols(struct completion *c)
{
	CLEANUP(freep) char *exe = find_exe(c);
	CLEANUP(freep) char *pattern = NULL;
	CLEANUP(freep) char *name = NULL;
	CLEANUP(freep) char *file = NULL;
	const char *typed = c->word + c->head_len, *colon = strchr(typed, ':');

	if (colon && colon[1] != ':' && (name = strndup(typed, (size_t)(colon - typed))) &&
	    !trigger_find_file(name, exe ? exe : "/proc/self/exe", &file)) {
		c->head_len += (size_t)(colon + 1 - typed);
		typed = colon + 1;
	}
	if ((!file && !exe) || strpbrk(typed, "*?[") || asprintf(&pattern, "%s*", typed) < 0)
		return;
	trigger_list(file ? file : exe, pattern, offer_place, c);
}

/* To the last of a list with commas. */
static void go_to_last(struct completion *c)
{
	const char *comma = strrchr(c->word + c->head_len, ',');

	if (comma)
		c->head_len = (size_t)(comma + 1 - c->word);
}

static void offer_processes(struct completion *c)
{
	CLEANUP(process_list_release) struct process_list list = {0};

	go_to_last(c);
	if (process_list_read(&list))
		return;
	for (size_t i = 0; i < list.cnt; i++) {
		const char *number = list.lines[i] + 1, *end = strchr(number, ']');

		if (end)
			offer(c, number, (size_t)(end - number), end + 1 + strspn(end + 1, " "));
	}
}

static void offer_signals(struct completion *c)
{
	go_to_last(c);
	for (int i = 1; i < NSIG; i++) {
		char name[32];

		if (sigabbrev_np(i))
			offer(c, name, (size_t)snprintf(name, sizeof(name), "SIG%s", sigabbrev_np(i)),
			      sigdescr_np(i));
	}
}

static void offer_events(struct completion *c)
{
	const char *name;

	go_to_last(c);
	for (size_t i = 0; (name = samples_events_known(i)); i++)
		offer(c, name, strlen(name), "");
}

/* "fxt, json or slices" */
static void offer_formats(struct completion *c)
{
	struct sink_list names = sink_names();
	char *rest = names.text;

	for (char *name; (name = strsep(&rest, ", "));)
		if (*name && strcmp(name, "or") != 0)
			offer(c, name, strlen(name), "");
}

static void offer_programs(struct completion *c)
{
	(void)c;
	puts(":program");
}

/* By the word that stands for the value in --help. */
static void offer_values(struct completion *c, const char *arg)
{
	static const struct {
		const char *arg;
		void (*offer)(struct completion *c);
	} kinds[] = {
		{"PLACE", offer_symbols},    {"SYMBOL", offer_symbols}, {"FUNCTION", offer_symbols},
		{"PATTERN", offer_symbols},  {"PID", offer_processes},	{"SIGNAL", offer_signals},
		{"PROGRAM", offer_programs}, {"FORMAT", offer_formats}, {"EVENT", offer_events},
	};
	size_t len;

	arg += *arg == '[';
	if (islower((unsigned char)*arg))
		offer_choices(c, arg);
	for (len = 0; isupper((unsigned char)arg[len]);)
		len++;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].arg) == len && !strncmp(arg, kinds[i].arg, len))
			kinds[i].offer(c);
}

/* ---- words ---- */

static void offer_options(const struct completion *c)
{
	const struct argp_option *options[OPTIONS_MAX];
	size_t cnt = option_table_list(c->argp, options);

	for (size_t i = 0; i < cnt; i++) {
		char name[64];

		offer(c, name, (size_t)snprintf(name, sizeof(name), "--%s", options[i]->name),
		      options[i]->doc ? options[i]->doc : "");
	}
}

/* "FILE [PATTERN]": the name in --help of a word that is not an option. */
static void offer_arguments(struct completion *c)
{
	const char *arg = c->argp->args_doc ? c->argp->args_doc : "";

	if (!strncmp(arg, "[--] ", 5))
		arg += 5;
	for (size_t i = 0; i < c->place; i++) {
		arg += strcspn(arg, " ");
		arg += strspn(arg, " ");
	}
	offer_values(c, arg);
}

static void note_value(struct completion *c, const struct argp_option *option, const char *value)
{
	if (option && option->key == 'p' && value)
		c->pids = value;
}

static void read_words(struct completion *c, bool is_in_order)
{
	bool no_options = false;
	size_t places = 0;

	for (size_t i = 0; i < c->cnt; i++) {
		const char *word = c->words[i];
		struct option_word read = {0};

		if (i == c->cursor) {
			c->no_options = no_options;
			c->place = places;
			continue;
		}
		if (!no_options && !strcmp(word, "--")) {
			no_options = true;
		} else if (!no_options && word[0] == '-' && word[1]) {
			read = option_word_read(c->argp, word);
			note_value(c, read.option, read.value);
		} else {
			if (!places++)
				c->file = word;
			if (!is_in_order)
				continue;
			c->is_programs = i < c->cursor;
			return;
		}
		if (!read.takes_next || ++i == c->cnt)
			continue;
		if (i == c->cursor)
			c->option = read.option;
		else
			note_value(c, read.option, c->words[i]);
	}
}

static void offer_words(struct completion *c)
{
	struct option_word read = {0};

	c->word = c->words[c->cursor];
	if (c->is_programs)
		return;
	if (c->option) {
		offer_values(c, c->option->arg);
		return;
	}
	if (c->no_options || c->word[0] != '-') {
		offer_arguments(c);
		return;
	}
	read = option_word_read(c->argp, c->word);
	if (!read.option || !read.value) {
		offer_options(c);
	} else if (read.option->arg) {
		c->head_len = (size_t)(read.value - c->word);
		offer_values(c, read.option->arg);
	}
}

/* bash splits words at "=" and ":", as in "--source" "=" "step": joins them again. */
static int join_words(struct completion *c, char **words, size_t cnt, size_t cursor)
{
	size_t cap = 0;
	bool is_glued = false;

	for (size_t i = 0; i < cnt; i++) {
		bool is_break = words[i][0] && !words[i][strspn(words[i], "=:")];
		char *word;

		if (c->cnt && (is_glued || is_break)) {
			char **last = &c->words[c->cnt - 1];

			if (asprintf(&word, "%s%s", *last, words[i]) < 0)
				return -ENOMEM;
			free(*last);
			*last = word;
		} else {
			word = strdup(words[i]);
			if (!word || ARRAY_PUSH(c->words, c->cnt, cap, word))
				return -ENOMEM;
		}
		if (i == cursor)
			c->cursor = c->cnt - 1;
		is_glued = is_break && i != cursor;
	}
	return 0;
}

void complete_options(const struct argp *argp, int argc, char **argv, unsigned int flags)
{
	struct completion c = {.argp = argp};
	int cursor = argc > 3 ? atoi(argv[2]) - 2 : -1;

	if (cursor >= 0 && cursor < argc - 3 && !join_words(&c, argv + 3, (size_t)argc - 3, (size_t)cursor)) {
		read_words(&c, flags & ARGP_IN_ORDER);
		offer_words(&c);
	}
	for (size_t i = 0; i < c.cnt; i++)
		free(c.words[i]);
	free(c.words);
}
