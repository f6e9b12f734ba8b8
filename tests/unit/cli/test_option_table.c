/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/option_table.h"

#include "assertions.h"

static const struct argp_option inner_options[] = {
	{"trigger", 't', "PLACE", 0, "", 0},	     {"step-from", 256, "SYMBOL", 0, "", 0},
	{"step-log", 257, "FILE", 0, "", 0},	     {"kernel", 258, "only", OPTION_ARG_OPTIONAL, "", 0},
	{"secret", 259, NULL, OPTION_HIDDEN, "", 0}, {0},
};
static const struct argp inner = {.options = inner_options};
static const struct argp_child children[] = {{.argp = &inner}, {0}};
static const struct argp_option outer_options[] = {{"verbose", 'v', NULL, 0, "", 0}, {0}};
static const struct argp argp = {.options = outer_options, .children = children};

static void assert_read(const char *word, const char *name, const char *value, bool takes_next)
{
	struct option_word read = option_word_read(&argp, word);

	if (name)
		assert_string_equal(read.option->name, name);
	else
		assert_null(read.option);
	if (value)
		assert_string_equal(read.value, value);
	else
		assert_null(read.value);
	assert_int_equal(read.takes_next, takes_next);
}

TEST(test_lists_what_is_shown)
{
	const struct argp_option *options[OPTIONS_MAX];

	assert_int_equal(option_table_list(&argp, options),
			 7); /* with --help and --usage, without --secret */
}

TEST(test_reads_words_as_getopt_does)
{
	assert_read("--trigger", "trigger", NULL, true);
	assert_read("--trigger=main", "trigger", "main", false);
	assert_read("--trig", "trigger", NULL, true);
	assert_read("--step", NULL, NULL, false);
	assert_read("--step-l", "step-log", NULL, true);
	assert_read("--kernel", "kernel", NULL, false);
	assert_read("--kernel=only", "kernel", "only", false);
	assert_read("--verbose", "verbose", NULL, false);
	assert_read("-t", "trigger", NULL, true);
	assert_read("-tmain", "trigger", "main", false);
	assert_read("-vt", "trigger", NULL, true);
	assert_read("-vtmain", "trigger", "main", false);
	assert_read("-v", "verbose", NULL, false);
	assert_read("-x", NULL, NULL, false);
	assert_read("--help", "help", NULL, false);
	assert_read("-", NULL, NULL, false);
	assert_read("main", NULL, NULL, false);
	assert_read("", NULL, NULL, false);
}

TEST(test_knows_what_was_meant)
{
	assert_string_equal(option_table_similar(&argp, "--trigerr=main")->name, "trigger");
	assert_string_equal(option_table_similar(&argp, "--step_log")->name, "step-log");
	assert_null(option_table_similar(&argp, "--step"));
	assert_null(option_table_similar(&argp, "--colour"));
	assert_null(option_table_similar(
		&argp, "--secret-of-more-than-sixty-four-letters-is-none-that-anybody-would-have-meant"));
}

TEST_MAIN(NULL, NULL)
