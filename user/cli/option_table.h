/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command's options from argp's tables, for what argp does not offer: completion, and hints for misspelled
 * options.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum { OPTIONS_MAX = 128 };

/* All options of the command, including its children's, --help and --usage; returns how many. */
size_t option_table_list(const struct argp *argp, const struct argp_option *ret_options[static OPTIONS_MAX]);

struct option_word {
	const struct argp_option *option; /* NULL: the word is not an option of the command */
	const char *value;		  /* the value inside the word: "--source=step", "-tmain"; or NULL */
	bool takes_next;		  /* the next word is its value */
};

/* How getopt_long(3) would read the word. */
struct option_word option_word_read(const struct argp *argp, const char *word);

/*
 * The long option whose name is closest to "--word". NULL: none is close, or the word abbreviates several.
 */
const struct argp_option *option_table_similar(const struct argp *argp, const char *word);
