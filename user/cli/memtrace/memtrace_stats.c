/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/memtrace/memtrace.h"
#include "cli/terminal.h"
#include "heap/summary.h"

enum { NS_PER_US = 1000, BAR = 30 };

struct stats {
	struct memtrace_input input;
	bool json;
	const struct memtrace *trace;
	struct memtrace_summary summary;
	struct terminal terminal;
};

static struct bytes_text words_text(const struct stats *stats, uint64_t nsamples)
{
	return bytes_text(memtrace_bytes_of(stats->trace, nsamples));
}

/* The estimate, of a second. */
static uint64_t bytes_per_second(const struct stats *stats, uint64_t nsamples)
{
	uint64_t end_us = stats->trace->end_us;
	double bytes = end_us ? (double)memtrace_bytes_of(stats->trace, nsamples) * 1e6 / (double)end_us : 0;

	return bytes < 0x1p63 ? (uint64_t)bytes : INT64_MAX;
}

/* The mean distance of samples. */
static uint64_t interval(const struct stats *stats)
{
	return memtrace_bytes_of(stats->trace, 1);
}

/* ---- text ---- */

static void about_line(const struct stats *stats, const char *what, const char *words)
{
	if (!*words)
		return;
	terminal_text(&stats->terminal, COLOUR_NONE, (size_t)printf("%-11s", what), words);
	putchar('\n');
}

static void about(const struct stats *stats)
{
	const struct memtrace_info *info = stats->trace->info;
	char words[64];

	about_line(stats, "trace", stats->input.path);
	about_line(stats, "program", info->executable);
	printf("%-11s%" PRIu64 "\n", "process", info->pid);
	about_line(stats, "host", info->host);
	about_line(stats, "when", when_text(info->start_us * NS_PER_US).text);
	about_line(stats, "length", duration_text(stats->trace->end_us * NS_PER_US).text);
	snprintf(words, sizeof(words), "%s on average (one of %.0f words)", bytes_text(interval(stats)).text,
		 1 / info->sample_rate);
	about_line(stats, "a sample", words);
	about_line(stats, "runtime", info->runtime_params);
	about_line(stats, "context", info->context);
	printf("%-11smemtrace, version %" PRIu64 "\n", "format", info->version);
}

static void totals(const struct stats *stats)
{
	const struct memtrace_summary *summary = &stats->summary;

	terminal_heading(&stats->terminal, "Estimated from samples");
	printf("%14s  allocated, %s a second\n", words_text(stats, summary->all.nsamples).text,
	       bytes_text(bytes_per_second(stats, summary->all.nsamples)).text);
	printf("%14s  alive when the most was, after %s\n", words_text(stats, summary->peak.nsamples).text,
	       duration_text(summary->peak.time_us * NS_PER_US).text);
	printf("%14s  never collected\n", words_text(stats, summary->live).text);
}

static void source_line(const struct stats *stats, const char *name, const struct memtrace_source_sum *sum)
{
	if (sum->allocations)
		printf("%-10s %11" PRIu64 " %12s %5.1f %% %8.1f %% %8.1f %% %11" PRIu64 "\n", name,
		       sum->allocations, words_text(stats, sum->nsamples).text,
		       percent(sum->nsamples, stats->summary.all.nsamples),
		       percent(sum->promoted, sum->allocations), percent(sum->collected, sum->allocations),
		       sum->allocations - sum->collected);
}

static void sources(const struct stats *stats)
{
	terminal_heading(&stats->terminal, "Allocations that were sampled");
	printf("%-10s %11s %12s %7s %10s %10s %11s\n", "source", "allocations", "bytes", "", "promoted",
	       "collected", "never");
	for (enum memtrace_source i = 0; i < MEMTRACE_SOURCE_CNT; i++)
		source_line(stats, memtrace_source_name(i), &stats->summary.sources[i]);
	source_line(stats, "all", &stats->summary.all);
}

static void class_line(const struct stats *stats, const char *from, const struct memtrace_class *class,
		       uint64_t whole)
{
	static const char bar[] = "##############################";

	_Static_assert(sizeof(bar) == BAR + 1, "as long as it is said to be");
	printf("%14s %11" PRIu64 " %12s %5.1f %%  %.*s\n", from, class->allocations,
	       words_text(stats, class->nsamples).text, percent(class->nsamples, whole),
	       whole ? (int)((double)BAR * (double)class->nsamples / (double)whole + 0.5) : 0, bar);
}

static struct duration_text lifetime_text(uint64_t us)
{
	return duration_text(us * NS_PER_US);
}

static void histogram(const struct stats *stats, const char *title,
		      const struct memtrace_histogram *histogram, bool is_time)
{
	uint64_t whole = stats->summary.all.nsamples;

	terminal_heading(&stats->terminal, title);
	printf("%14s %11s %12s\n", "from", "allocations", "bytes");
	for (size_t i = 0; i < MEMTRACE_CLASSES; i++) {
		uint64_t from = i ? (uint64_t)1 << i : 0;

		if (histogram->classes[i].allocations)
			class_line(stats, is_time ? lifetime_text(from).text : bytes_text(from).text,
				   &histogram->classes[i], whole);
	}
}

static void never_line(const struct stats *stats)
{
	const struct memtrace_source_sum *all = &stats->summary.all;
	const struct memtrace_class never = {all->allocations - all->collected, stats->summary.live};

	if (never.allocations)
		class_line(stats, "never ended", &never, all->nsamples);
}

static void stacks(const struct stats *stats)
{
	const struct memtrace_summary *summary = &stats->summary;

	terminal_heading(&stats->terminal, "Call stacks");
	printf("%" PRIu64 " to %" PRIu64 " calls deep, %.1f on average, in %" PRIu64 " domain%s\n",
	       summary->depth_least, summary->depth_most,
	       summary->all.allocations ? (double)summary->depth_sum / (double)summary->all.allocations : 0,
	       summary->domains, summary->domains == 1 ? "" : "s");
	printf("%" PRIu64 " code addresses, %" PRIu64 " with a place: %" PRIu64 " places in %" PRIu64
	       " functions of %" PRIu64 " files\n",
	       summary->codes, summary->known_codes, summary->locations, summary->functions, summary->files);
	if (summary->unknown)
		printf("%" PRIu64 " events are about allocations that are not in the trace\n",
		       summary->unknown);
}

static void print_text(struct stats *stats)
{
	stats->terminal = terminal_of_stdout();
	about(stats);
	totals(stats);
	if (!stats->summary.all.allocations)
		return;
	sources(stats);
	histogram(stats, "Sizes of allocations", &stats->summary.sizes, false);
	histogram(stats, "Lifetimes", &stats->summary.lifetimes, true);
	never_line(stats);
	stacks(stats);
}

/* ---- JSON ---- */

static void put_words(yajl_gen gen, const struct stats *stats, uint64_t nsamples)
{
	json_key_number(gen, "samples", nsamples);
	json_key_number(gen, "bytes", memtrace_bytes_of(stats->trace, nsamples));
}

static void put_source(yajl_gen gen, const struct stats *stats, const char *name,
		       const struct memtrace_source_sum *sum)
{
	json_key_map(gen, name);
	json_key_number(gen, "allocations", sum->allocations);
	put_words(gen, stats, sum->nsamples);
	json_key_number(gen, "promoted", sum->promoted);
	json_key_number(gen, "collected", sum->collected);
	yajl_gen_map_close(gen);
}

static void put_histogram(yajl_gen gen, const struct stats *stats, const char *name, const char *from,
			  const struct memtrace_histogram *histogram)
{
	json_key_array(gen, name);
	for (size_t i = 0; i < MEMTRACE_CLASSES; i++) {
		if (!histogram->classes[i].allocations)
			continue;
		yajl_gen_map_open(gen);
		json_key_number(gen, from, i ? (uint64_t)1 << i : 0);
		json_key_number(gen, "allocations", histogram->classes[i].allocations);
		put_words(gen, stats, histogram->classes[i].nsamples);
		yajl_gen_map_close(gen);
	}
	yajl_gen_array_close(gen);
}

static void put_trace(yajl_gen gen, const struct stats *stats)
{
	const struct memtrace_info *info = stats->trace->info;

	json_key_map(gen, "trace");
	json_key_text(gen, "path", stats->input.path);
	json_key_text(gen, "program", info->executable);
	json_key_number(gen, "pid", info->pid);
	json_key_text(gen, "host", info->host);
	json_key_number(gen, "start_us", info->start_us);
	json_key_number(gen, "length_us", stats->trace->end_us);
	json_text(gen, "sample_rate");
	yajl_gen_double(gen, info->sample_rate);
	json_key_number(gen, "word_bytes", info->word_bits / 8);
	json_key_text(gen, "runtime", info->runtime_params);
	json_key_text(gen, "context", info->context);
	json_key_number(gen, "version", info->version);
	json_key_bool(gen, "damaged", stats->trace->damage);
	yajl_gen_map_close(gen);
}

static void put_stacks(yajl_gen gen, const struct memtrace_summary *summary)
{
	json_key_map(gen, "stacks");
	json_key_number(gen, "depth_least", summary->depth_least);
	json_key_number(gen, "depth_most", summary->depth_most);
	json_key_number(gen, "depth_sum", summary->depth_sum);
	json_key_number(gen, "codes", summary->codes);
	json_key_number(gen, "known_codes", summary->known_codes);
	json_key_number(gen, "locations", summary->locations);
	json_key_number(gen, "functions", summary->functions);
	json_key_number(gen, "files", summary->files);
	yajl_gen_map_close(gen);
}

static int print_json(const struct stats *stats)
{
	const struct memtrace_summary *summary = &stats->summary;
	CLEANUP(yajl_gen_freep) yajl_gen gen = json_to_stdout();

	if (!gen)
		return -ENOMEM;
	yajl_gen_map_open(gen);
	put_trace(gen, stats);
	put_source(gen, stats, "all", &summary->all);
	for (enum memtrace_source i = 0; i < MEMTRACE_SOURCE_CNT; i++)
		put_source(gen, stats, memtrace_source_name(i), &summary->sources[i]);
	json_key_number(gen, "bytes_per_second", bytes_per_second(stats, summary->all.nsamples));
	json_key_map(gen, "peak");
	json_key_number(gen, "time_us", summary->peak.time_us);
	put_words(gen, stats, summary->peak.nsamples);
	yajl_gen_map_close(gen);
	json_key_map(gen, "never_collected");
	json_key_number(gen, "allocations", summary->all.allocations - summary->all.collected);
	put_words(gen, stats, summary->live);
	yajl_gen_map_close(gen);
	put_histogram(gen, stats, "sizes", "from_bytes", &summary->sizes);
	put_histogram(gen, stats, "lifetimes", "from_us", &summary->lifetimes);
	put_stacks(gen, summary);
	json_key_number(gen, "domains", summary->domains);
	json_key_number(gen, "unknown_events", summary->unknown);
	yajl_gen_map_close(gen);
	return 0;
}

/* ---- the command ---- */

enum { OPT_JSON = 256 };

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "JSON, for scripts: trailcam(1) lists its keys", 30},
	{0},
};

static const struct option_field fields[] = {OPTION_FIELD(OPT_JSON, struct stats, json), {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stats *stats = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &stats->input;
	return option_fields_set(fields, stats, key, arg, state);
}

static const struct argp argp = {
	.children = memtrace_input_children,
	.options = options,
	.parser = parse,
	.args_doc = "TRACE",
	.doc = "  trailcam memtrace stats app.ctf\n"
	       "  trailcam memtrace stats --live app.ctf\n\n"
	       "Say what is in an allocation trace: the program, how much it allocated and how much of that "
	       "was alive, sizes and lifetimes. Bytes are estimates: what the samples stand for.\v"
	       "Exit status: 0: shown; 1: not a trace, or damaged (what comes before is shown); 2: wrong "
	       "usage.",
};

int memtrace_stats(int argc, char **argv)
{
	CLEANUP(memtrace_freep) struct memtrace *trace = NULL;
	struct stats stats = {0};
	int err;

	options_parse(&argp, argc, argv, 0, &stats);
	err = memtrace_load(&trace, stats.input.path, &stats.input.filter);
	if (err)
		return print_failure(err, STATUS_FAILED);
	stats.trace = trace;
	err = memtrace_summarize(trace, &stats.summary);
	if (!err && stats.json)
		err = print_json(&stats);
	else if (!err)
		print_text(&stats);
	return memtrace_end(trace, err);
}
