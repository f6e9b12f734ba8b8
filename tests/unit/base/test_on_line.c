/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/on_line.h"

static const struct {
	const char *text, *shown;
} cases[] = {
	{"", ""},
	{"plain \\ text", "plain \\ text"},
	{"h\033[31mx", "h\\x1b[31mx"},
	{"one\ntwo\tthree\r", "one\\ntwo\\tthree\\x0d"},
	{"\x7f\x01", "\\x7f\\x01"},
	/* C1: as UTF-8, and as a byte that is none */
	{"a\xc2\x9b"
	 "31mb\xc2\xa0",
	 "a\\u009b31mb\xc2\xa0"},
	{"a\x9b"
	 "31mb",
	 "a\\x9b31mb"},
	{"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
	{"\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9", "\\u202a\\u202e\\u2066\\u2069"},
	{"\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
	 "\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"},
	{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xab", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xab"},
	/* cut off, overlong */
	{"\xe2\x80", "\\xe2\\x80"},
	{"\xc0\x9b", "\\xc0\\x9b"},
};

TEST(test_shown)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *shown = on_line_dup(cases[i].text), *again = on_line_dup(shown), *written = NULL;
		size_t size;
		FILE *file = open_memstream(&written, &size);

		assert_string_equal(shown, cases[i].shown);
		assert_string_equal(again, shown);
		on_line_put(cases[i].text, file);
		fclose(file);
		assert_string_equal(written, shown);
		free(shown);
		free(again);
		free(written);
	}
}

/* Of any length, what fits: neither half a character nor half an escape. */
TEST(test_cut)
{
	char to[16];

	for (size_t size = 1; size <= sizeof(to); size++) {
		size_t len = on_line_copy(to, size, "ab\xe2\x82\xac\033x");

		assert_true(len < size);
		assert_int_equal(strlen(to), len);
		assert_int_equal(len, size > 10 ? 10 : size > 9 ? 9 : size > 5 ? 5 : size > 2 ? 2 : size - 1);
	}
}

TEST(test_sentences)
{
	fail(-EINVAL, "no '%s'", "a\nb\033[2J");
	assert_string_equal(fail_message(-EINVAL), "no 'a\\nb\\x1b[2J'");
	fail_line(-EINVAL, "  %s", "at\n");
	fail_prefix(-EINVAL, "in %s", "\xc2\x9b");
	assert_string_equal(fail_message(-EINVAL), "in \\u009b: no 'a\\nb\\x1b[2J'\n  at\\n");
	fail_errno(-ENOENT, "cannot read %s", "\r");
	assert_string_equal(fail_message(-ENOENT), "cannot read \\x0d: No such file or directory");
}

/* What the program says on standard error. */
static char *said(void (*say)(void))
{
	char *text = calloc(1, 4096);
	int pipe_fds[2], saved = dup(STDERR_FILENO);

	assert_int_equal(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], STDERR_FILENO);
	say();
	dup2(saved, STDERR_FILENO);
	assert_true(read(pipe_fds[0], text, 4095) > 0);
	close(saved);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return text;
}

static void say_lines(void)
{
	log_warn("of %s", "x\nforged\033[31m");
	fail(-EINVAL, "one\n");
	fail_line(-EINVAL, "two");
	log_fail(-EINVAL);
}

TEST(test_log)
{
	char *text = said(say_lines);

	assert_string_equal(text, "trailcam: warning: of x\\nforged\\x1b[31m\ntrailcam: one\\n\ntwo\n");
	free(text);
}

TEST_MAIN(NULL, NULL)
