/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/option_table.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/edit_distance.h"

static const struct argp_option argps_own[] = {
	{"help", '?', NULL, 0, "Give this help list", 0},
	{"usage", 1, NULL, 0, "Give a short usage message", 0},
	{0},
};

static size_t add(const struct argp_option *table, size_t cnt, const struct argp_option *options[])
{
	for (; table && (table->name || table->key || table->doc); table++)
		if (table->name && !(table->flags & OPTION_HIDDEN) && cnt < OPTIONS_MAX)
			options[cnt++] = table;
	return cnt;
}

static size_t add_all(const struct argp *argp, size_t cnt, const struct argp_option *options[])
{
	cnt = add(argp->options, cnt, options);
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		cnt = add_all(child->argp, cnt, options);
	return cnt;
}

size_t option_table_list(const struct argp *argp, const struct argp_option *ret_options[static OPTIONS_MAX])
{
	return add(argps_own, add_all(argp, 0, ret_options), ret_options);
}

/* An abbreviation is valid if it fits one option only. */
static const struct argp_option *find_long(const struct argp *argp, const char *name, size_t len)
{
	const struct argp_option *options[OPTIONS_MAX], *found = NULL;
	size_t cnt = option_table_list(argp, options), found_cnt = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (strncmp(options[i]->name, name, len))
			continue;
		if (!options[i]->name[len])
			return options[i];
		found = options[i];
		found_cnt++;
	}
	return found_cnt == 1 ? found : NULL;
}

static const struct argp_option *find_short(const struct argp *argp, char letter)
{
	const struct argp_option *options[OPTIONS_MAX];
	size_t cnt = option_table_list(argp, options);

	for (size_t i = 0; i < cnt; i++)
		if (options[i]->key == letter && isgraph((unsigned char)letter))
			return options[i];
	return NULL;
}

static bool needs_value(const struct argp_option *option)
{
	return option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

struct option_word option_word_read(const struct argp *argp, const char *word)
{
	struct option_word found = {0};

	if (word[0] != '-' || !word[1])
		return found;
	if (word[1] == '-') {
		size_t len = strcspn(word, "=");

		found.option = find_long(argp, word + 2, len - 2);
		found.value = word[len] ? word + len + 1 : NULL;
		found.takes_next = found.option && needs_value(found.option) && !found.value;
		return found;
	}
	/* Several letters in one word, up to one that takes the rest as its value. */
	for (word++; *word; word++) {
		found.option = find_short(argp, *word);
		if (!found.option || found.option->arg)
			break;
	}
	if (*word && found.option) {
		found.value = word[1] ? word + 1 : NULL;
		found.takes_next = needs_value(found.option) && !found.value;
	}
	return found;
}

const struct argp_option *option_table_similar(const struct argp *argp, const char *word)
{
	const struct argp_option *options[OPTIONS_MAX], *best = NULL;
	size_t cnt = option_table_list(argp, options), best_distance = SIZE_MAX;
	size_t len = strcspn(word, "=") - 2;
	char name[64] = "";

	if (len >= sizeof(name))
		return NULL;
	memcpy(name, word + 2, len);
	for (size_t i = 0; i < cnt; i++) {
		size_t distance = edit_distance(name, options[i]->name);

		if (!strncmp(name, options[i]->name, len))
			return NULL; /* an abbreviation of several, which getopt lists */
		if (distance > 1 + len / 4 || distance >= best_distance)
			continue;
		best = options[i];
		best_distance = distance;
	}
	return best;
}
