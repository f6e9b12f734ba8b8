/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What argp knows about a command's options, for what argp does not do with it: to complete words, and to say
 * which option was meant.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum { OPTIONS_MAX = 128 };

/* All options of the command, its children's and --help and --usage, too; returns how many. */
size_t option_table_list(const struct argp *argp, const struct argp_option *ret_options[static OPTIONS_MAX]);

struct option_word {
	const struct argp_option *option; /* NULL: the word is none of the command's options */
	const char *value; /* what the word has of a value: "--source=step", "-tmain"; or NULL */
	bool takes_next;   /* the next word is its value */
};

/* What getopt_long(3) would take the word for. */
struct option_word option_word_read(const struct argp *argp, const char *word);

/*
 * The long option whose name is most like that of "--word", if any is much alike. NULL: none is, or it
 * abbreviates some.
 */
const struct argp_option *option_table_similar(const struct argp *argp, const char *word);
