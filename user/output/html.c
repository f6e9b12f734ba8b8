/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/html.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "output/embed.h"
#include "output/sink.h"

EMBED(viewer_html, "user/output/viewer/viewer.html");
EMBED(viewer_css, "user/output/viewer/viewer.css");
EMBED(viewer_trace, "user/output/viewer/trace.js");
EMBED(viewer_text, "user/output/viewer/text.js");
EMBED(viewer_compare, "user/output/viewer/compare.js");
EMBED(viewer_marks, "user/output/viewer/marks.js");
EMBED(viewer_counters, "user/output/viewer/counters.js");
EMBED(viewer_chart, "user/output/viewer/chart.js");
EMBED(viewer_flame, "user/output/viewer/flame.js");
EMBED(viewer_calltree, "user/output/viewer/calltree.js");
EMBED(viewer_details, "user/output/viewer/details.js");
EMBED(viewer_ranges, "user/output/viewer/ranges.js");
EMBED(viewer_threads, "user/output/viewer/threads.js");
EMBED(viewer_page, "user/output/viewer/page.js");

/* ---- base64 (RFC 4648) ---- */

struct base64 {
	struct output *output;
	uint8_t held[3];
	size_t held_cnt;
};

static void put_group(struct base64 *base64)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *held = base64->held;
	uint32_t bits = (uint32_t)held[0] << 16 | (uint32_t)held[1] << 8 | held[2];
	char text[4];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i <= base64->held_cnt ? digits[bits >> (18 - 6 * i) & 63] : '=';
	output_write(base64->output, text, sizeof(text));
	memset(base64->held, 0, sizeof(base64->held));
	base64->held_cnt = 0;
}

static int put_base64(void *ctx, const uint8_t *bytes, size_t size)
{
	struct base64 *base64 = ctx;

	for (size_t i = 0; i < size; i++) {
		base64->held[base64->held_cnt++] = bytes[i];
		if (base64->held_cnt == sizeof(base64->held))
			put_group(base64);
	}
	return 0;
}

/* ---- the page ---- */

static int write_data(const struct timeline *timeline, struct output *output, size_t max)
{
	struct base64 base64 = {.output = output};
	CLEANUP(gzip_freep) struct gzip *gzip = NULL;
	size_t left_out = 0;
	int err = gzip_new(&gzip, put_base64, &base64);

	if (!err)
		err = html_write_data(timeline, gzip, max, &left_out);
	if (!err && base64.held_cnt)
		put_group(&base64);
	if (!err && left_out)
		log_warn("the page leaves out %zu calls and keeps %zu, around the first hit or the last "
			 "ones: a browser cannot hold more (a .fxt has all)",
			 left_out, max);
	return err;
}

static void write_text(struct output *output, const char *text)
{
	output_write(output, text, strlen(text));
}

/* viewer.html up to `mark`, which is left out; returns what follows. */
static const char *write_until(struct output *output, const char *html, const char *mark)
{
	const char *at = strstr(html, mark);

	output_write(output, html, (size_t)(at - html));
	return at + strlen(mark);
}

/* In the order in which the parts need each other. */
static void write_script(struct output *output)
{
	write_text(output, viewer_trace);
	write_text(output, viewer_text);
	write_text(output, viewer_compare);
	write_text(output, viewer_marks);
	write_text(output, viewer_counters);
	write_text(output, viewer_chart);
	write_text(output, viewer_flame);
	write_text(output, viewer_calltree);
	write_text(output, viewer_details);
	write_text(output, viewer_ranges);
	write_text(output, viewer_threads);
	write_text(output, viewer_page);
}

static int write_other(const struct timeline *other, struct output *output, size_t max)
{
	int err;

	write_text(output, "<script id=\"other\" type=\"application/octet-stream;base64\">");
	err = write_data(other, output, max);
	write_text(output, "</script>\n");
	return err;
}

int html_write(const struct timeline *timeline, const struct timeline *other, struct output *output,
	       size_t max)
{
	const char *html = write_until(output, viewer_html, "@STYLE@");
	int err;

	write_text(output, viewer_css);
	html = write_until(output, html, "@DATA@");
	err = write_data(timeline, output, other ? max / 2 : max);
	html = write_until(output, html, "@OTHER@");
	if (other && !err)
		err = write_other(other, output, max / 2);
	html = write_until(output, html, "@SCRIPT@");
	write_script(output);
	write_text(output, html);
	return err;
}

static int write_page(const struct timeline *timeline, struct output *output)
{
	return html_write(timeline, NULL, output, HTML_SLICES_MAX);
}

const struct sink sink_html = {
	.name = "html",
	.suffix = ".html",
	.needs_arrays = true,
	.how_to_open = "open it in a browser",
	.write = write_page,
};
