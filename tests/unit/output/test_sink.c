/* SPDX-License-Identifier: BSD-2-Clause */
/* A format of its own takes one table and no more; and how a format is found by its name and by a file's. */
#include "timelines.h"

#include "output/walk.h"

/* ---- a format in one place: "(NAME ... )" for each call ---- */

static void toy_begin(void *ctx, const struct slice *slice)
{
	output_printf(ctx, "(%s", slice_name(slice));
}

static void toy_end(void *ctx, const struct slice *slice)
{
	(void)slice;
	output_printf(ctx, ")");
}

static void toy_instant(void *ctx, const struct instant *instant)
{
	output_printf(ctx, "[%s]", instant->text);
}

static int toy_write(const struct timeline *timeline, struct output *output)
{
	static const struct walk_ops ops = {.begin = toy_begin, .end = toy_end, .instant = toy_instant};

	return walk_timeline(timeline, &ops, output);
}

static const struct sink sink_toy = {
	.name = "toy",
	.suffix = ".toy",
	.how_to_open = "open it in an editor",
	.write = toy_write,
};

TEST(test_a_format_of_its_own)
{
	static const char wanted[] = "(serve(read)[lost](parse))";
	const struct symbol serve = make_symbol("serve"), read = make_symbol("read"),
			    parse = make_symbol("parse");
	struct timeline *timeline = make_timeline(1);
	size_t size;
	char *bytes;

	add_slice(&timeline->threads[0], &serve, 0, 100, 0);
	add_slice(&timeline->threads[0], &read, 10, 20, 1);
	add_slice(&timeline->threads[0], &parse, 40, 60, 1);
	add_gap(&timeline->threads[0], 30, "lost");
	bytes = written(&sink_toy, timeline, &size);
	assert_int_equal(size, strlen(wanted));
	assert_memory_equal(bytes, wanted, size);
	free(bytes);
	timeline_free(timeline);
}

/* ---- which one a file has ---- */

TEST(test_found)
{
	static const struct {
		const char *path, *format;
		const struct sink *sink;
	} files[] = {
		{"x.fxt", NULL, &sink_fxt},	  {"x.fxt.gz", NULL, &sink_fxt},
		{"x.json", NULL, &sink_json},	  {"x.speedscope.json", NULL, &sink_speedscope},
		{"x.csv.zst", "fxt", &sink_csv},  {"x.out", "html", &sink_html},
		{"-", "pftrace", &sink_pftrace},  {"-", NULL, &sink_fxt},
		{"/dev/stdout", NULL, &sink_fxt},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		assert_ptr_equal(sink_find(files[i].path, files[i].format), files[i].sink);
}

TEST(test_unknown)
{
	fail_reset();
	assert_null(sink_find("x.out", "toy"));
	assert_non_null(strstr(fail_message(-EINVAL), "there is no format 'toy': use fxt, html"));
	fail_reset();
	assert_null(sink_find("x.toy", NULL));
	assert_non_null(strstr(fail_message(-EINVAL), "its name must end in .fxt, .html"));
}

TEST_MAIN(NULL, NULL)
