/* SPDX-License-Identifier: BSD-2-Clause */
/* The text; that the values are right is tests/e2e/values.sh's to tell. */
#include "condition/condition_fields.h"

#include <stdio.h>

#include "assertions.h"
#include "condition/condition.h"

/* Notes what was asked for. "->s" is a pointer to a struct; arg4 itself is one whose text is meant. */
static int find(void *ctx, unsigned int nth, const char *path, struct elf_field *ret_field)
{
	sprintf(ctx, "%u%s", nth, path);
	if (!strcmp(path, "->none"))
		return fail(-ENOENT, "no such field");
	*ret_field = (struct elf_field){.offsets = {8, 16},
					.cnt = *path || nth == 4 ? 2 : 0,
					.size = !strcmp(path, "->s") ? 0 : 4,
					.depth = !strcmp(path, "->s")};
	return 0;
}

/* "len" is arg3, "text" arg4, "RUNNING" a constant. */
static int find_name(void *ctx, const char *name, struct elf_name *ret_name)
{
	bool is_constant = !strcmp(name, "RUNNING");

	(void)ctx;
	if (!is_constant && strcmp(name, "len") != 0 && strcmp(name, "text") != 0)
		return fail(-ENOENT, "'%s' is no name", name);
	*ret_name = (struct elf_name){.is_constant = is_constant, .nth = *name == 't' ? 4 : 3, .constant = 2};
	return 0;
}

static int find_enum(void *ctx, unsigned int nth, const char *path, struct elf_enum **ret_constants)
{
	(void)ctx;
	(void)nth;
	(void)path;
	*ret_constants = NULL;
	return 0;
}

static int parse(const char *text, char *asked)
{
	const struct field_lookup lookup = {
		.find = find, .find_name = find_name, .find_enum = find_enum, .ctx = asked};
	CLEANUP(condition_freep) struct condition *condition = NULL;
	int err = condition_parse_with(&condition, text, &lookup);

	if (!err) {
		assert_int_equal(condition_reads_memory(condition), asked[1] != '\0' || *asked == '4');
		assert_int_equal(condition_asks_args(condition), 1u << (*asked - '0'));
	}
	return err;
}

TEST(test_paths)
{
	char asked[64] = "";

	assert_ok(parse("arg1 -> conn->fd . x > 3", asked));
	assert_string_equal(asked, "1->conn->fd.x");
	assert_ok(parse("-arg0->a", asked));
	assert_ok(parse("str(arg2->name) == \"x\"", asked));
	assert_string_equal(asked, "2->name");
	assert_ok(parse("*(int *)arg0->s == 1", asked));
	assert_ok(parse("arg0->s != 0", asked));
}

TEST(test_names)
{
	char asked[64] = "";

	assert_ok(parse("len > 4096 && RUNNING == 2", asked));
	assert_string_equal(asked, "3");
	assert_ok(parse("len->a == RUNNING", asked));
	assert_string_equal(asked, "3->a");
	assert_ok(parse("str(text) == \"x\"", asked));
	assert_string_equal(asked, "4");
	assert_err(parse("len > 3 && lne < 5", asked), -EINVAL,
		   "'lne' is no name\n  len > 3 && lne < 5\n             ^");
	assert_err(parse("len->none", asked), -EINVAL, "no such field");
	assert_err(parse("RUNNING->x", asked), -EINVAL, "only arguments have fields");
}

TEST(test_refused)
{
	char asked[64] = "";

	assert_err(parse("arg0->none", asked), -EINVAL, "no such field");
	assert_err(parse("arg0->3", asked), -EINVAL, "the name of a field belongs here");
	assert_err(parse("pid->x", asked), -EINVAL, "argN->FIELD");
	assert_err(parse("arg0->s + 1", asked), -EINVAL, "does not point to a number");
	assert_err(parse("*arg0->s", asked), -EINVAL, "does not point to a number");
	assert_err(parse("arg0->s[1]", asked), -EINVAL, "does not point to a number");
}

TEST(test_unknown_functions)
{
	struct condition *condition;

	assert_ok(condition_parse(&condition, "arg0->conn->fd > 3 && req->conn->fd < 3 && state == RUNNING"));
	condition_free(condition);
}

TEST_MAIN(NULL, NULL)
