/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench: decoding large traces (tests/bench/lackey.c), each decoder in turn on the same bytes, in one
 * run: a scan of the packets (the lower bound), the fast decoder cold and warm on one thread and on all,
 * libipt's block decoder, perf script, and the whole way from the recording to a file. What counts are the
 * ratios.
 *
 *	decoders [-r RUNS] [-p] [-g] [-m TEXT] [-h FILE] RECORDING...
 *
 * -p: perf script, too; -g: what the goals need, with a real-time priority where that is allowed, so that
 * others on the machine disturb little; -m: only what has the text in its name; -h: results are added to the
 * file
 */
#include <errno.h>
#include <intel-pt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "decode/code.h"
#include "decode/libipt/setup.h"
#include "figures.h"
#include "history/history.h"
#include "output/sink.h"
#include "rebuild/decode.h"
#include "rebuild/traces.h"
#include "recording/recording.h"

enum { RUNS_MAX = 50 };

static unsigned long runs = 5;
static bool with_perf, only_goals;
static const char *only = "", *history;

static double now(void)
{
	return clock_seconds(CLOCK_MONOTONIC);
}

/* ---- one recording ---- */

struct subject {
	const char *path;
	struct snapshot *snapshot;
	struct history *history;
	struct aux_trace *aux;
	struct decoder_cache *cache;
	size_t branches;
};

static int begin(void *ctx, size_t cnt)
{
	(void)ctx;
	(void)cnt;
	return 0;
}

static int drop(void *ctx, size_t index, size_t version, struct branch_list *branches)
{
	struct subject *subject = ctx;

	(void)index;
	(void)version;
	__atomic_fetch_add(&subject->branches, branches->cnt, __ATOMIC_RELAXED);
	return 0;
}

static void new_cache(struct subject *subject)
{
	int err;

	decoder_cache_free(subject->cache);
	err = decoder_cache_new(&subject->cache);
	if (err)
		die("cache", err);
}

static void decode(struct subject *subject, enum decoder_kind kind, unsigned int threads)
{
	const struct decode_config config = {.threads = threads, .decoder = kind};
	const struct decoder_pieces pieces = {.begin = begin, .piece = drop, .ctx = subject};
	struct decoder_config decoder;
	struct schedule schedule;
	int err = schedule_make(&schedule, subject->history, subject->aux);

	if (err)
		die("schedule", err);
	decoder = traces_decoder(subject->snapshot, subject->history, &schedule, &config, subject->cache);
	decoder.functions = (struct decoder_functions){history_function_at, subject->history};
	subject->branches = 0;
	err = decoder_run_pieces(&decoder, subject->aux->bytes, subject->aux->size, &pieces);
	if (err)
		die("decode", err);
	schedule_release(&schedule);
}

/* ---- what is measured ---- */

static void scan(struct subject *subject)
{
	struct pt_packet_decoder *packets;
	struct pt_packet packet;
	struct pt_config config;

	setup_config(&config, &subject->snapshot->params, subject->aux->bytes,
		     subject->aux->bytes + subject->aux->size);
	packets = pt_pkt_alloc_decoder(&config);
	if (!packets || pt_pkt_sync_forward(packets) < 0)
		die("packets", -ENOMEM);
	while (pt_pkt_next(packets, &packet, sizeof(packet)) > 0)
		;
	pt_pkt_free_decoder(packets);
}

static void fast_cold(struct subject *subject)
{
	new_cache(subject);
	decode(subject, DECODER_FAST, 1);
}

static void fast_warm(struct subject *subject)
{
	decode(subject, DECODER_FAST, 1);
}

static void fast_cold_all(struct subject *subject)
{
	new_cache(subject);
	decode(subject, DECODER_FAST, 0);
}

static void fast_warm_all(struct subject *subject)
{
	decode(subject, DECODER_FAST, 0);
}

static void reference(struct subject *subject)
{
	new_cache(subject);
	decode(subject, DECODER_REFERENCE, 1);
}

/* Nothing but its loop: blocks, their times, events. */
static void walk_blocks(struct pt_block_decoder *decoder)
{
	int status = pt_blk_sync_forward(decoder);

	while (status >= 0) {
		struct pt_block block;
		uint32_t lost_mtc, lost_cyc;
		struct pt_event event;
		uint64_t tsc;

		while (status >= 0 && status & pts_event_pending)
			status = pt_blk_event(decoder, &event, sizeof(event));
		if (status < 0)
			break;
		status = pt_blk_next(decoder, &block, sizeof(block));
		pt_blk_time(decoder, &tsc, &lost_mtc, &lost_cyc);
	}
}

static void libipt(struct subject *subject)
{
	const struct decode_config config = {.threads = 1};
	struct decoder_config decoder;
	struct pt_block_decoder *blocks;
	struct pt_config blocks_config;
	struct schedule schedule;
	struct code_hold hold = {0};
	struct code code;
	int err = schedule_make(&schedule, subject->history, subject->aux);

	if (err)
		die("schedule", err);
	decoder = traces_decoder(subject->snapshot, subject->history, &schedule, &config, subject->cache);
	err = code_init(&code, &decoder);
	hold.code = &code;
	if (!err)
		err = code_hold(&hold, schedule.cnt - 1);
	if (err < 0)
		die("code", err);
	setup_config(&blocks_config, &subject->snapshot->params, subject->aux->bytes,
		     subject->aux->bytes + subject->aux->size);
	blocks_config.flags.variant.block.end_on_call = 1;
	blocks_config.flags.variant.block.end_on_jump = 1;
	blocks = pt_blk_alloc_decoder(&blocks_config);
	pt_blk_set_image(blocks, hold.image);
	walk_blocks(blocks);
	pt_blk_free_decoder(blocks);
	code_let_go(&hold);
	code_release(&code);
	schedule_release(&schedule);
}

static void libipt_cold(struct subject *subject)
{
	new_cache(subject);
	libipt(subject);
}

static void libipt_warm(struct subject *subject)
{
	libipt(subject);
}

static void whole_way(struct subject *subject, unsigned int threads, const char *file)
{
	const struct decode_config config = {.threads = threads, .source_lines = true, .stored = true};
	struct decoded *decoded;
	struct output *output;
	int err = decode_file(&decoded, subject->path, &config);

	/* To replace a file takes the time of writing the new one to the disk. */
	unlink(file);
	if (!err)
		err = output_open(&output, file);
	if (!err)
		err = sink_fxt.write(decoded_timeline(decoded), output);
	if (!err)
		err = output_close(output);
	if (err)
		die("the whole way", err);
	decoded_free(decoded);
}

/* Compression, too. */
static void on_one_processor(struct subject *subject, const char *file)
{
	cpu_set_t all, one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_getaffinity(0, sizeof(all), &all) || sched_setaffinity(0, sizeof(one), &one))
		die("processors", -errno);
	whole_way(subject, 1, file);
	sched_setaffinity(0, sizeof(all), &all);
}

static void to_timeline(struct subject *subject)
{
	const struct decode_config config = {.threads = 1};
	struct decoded *decoded;
	int err = decode_file(&decoded, subject->path, &config);

	if (err)
		die("the timeline", err);
	decoded_free(decoded);
}

static void to_fxt(struct subject *subject)
{
	on_one_processor(subject, "/tmp/trailcam-bench.fxt");
}

static void to_gz(struct subject *subject)
{
	on_one_processor(subject, "/tmp/trailcam-bench.fxt.gz");
}

static void to_gz_all(struct subject *subject)
{
	whole_way(subject, 0, "/tmp/trailcam-bench.fxt.gz");
}

static void perf(struct subject *subject, const char *options)
{
	char command[1024];

	snprintf(command, sizeof(command), "perf script -f -i %s %s >/dev/null 2>&1", subject->path, options);
	if (system(command))
		die("perf script", -EIO);
}

static void perf_decode(struct subject *subject)
{
	perf(subject, "--itrace=e");
}

/* As magic-trace calls it. */
static void perf_text(struct subject *subject)
{
	perf(subject, "--ns --itrace=bep -F pid,tid,time,flags,ip,addr,sym,symoff,synth,dso,event,period");
}

enum {
	PACKETS,
	FAST_COLD,
	FAST_WARM,
	FAST_COLD_ALL,
	FAST_WARM_ALL,
	LIBIPT_COLD,
	LIBIPT_WARM,
	REFERENCE,
	TIMELINE,
	FXT,
	GZ,
	GZ_ALL,
	PERF_DECODE,
	PERF_TEXT,
	MEASURES,
};

static const struct measure {
	const char *name;
	void (*run)(struct subject *subject);
	bool is_perf; /* slow: once */
} measures[MEASURES] = {
	[PACKETS] = {"packets, libipt (lower bound)", scan, false},
	[FAST_COLD] = {"fast, cold", fast_cold, false},
	[FAST_WARM] = {"fast, warm", fast_warm, false},
	[FAST_COLD_ALL] = {"fast, cold, all processors", fast_cold_all, false},
	[FAST_WARM_ALL] = {"fast, warm, all processors", fast_warm_all, false},
	[LIBIPT_COLD] = {"libipt's block decoder, cold", libipt_cold, false},
	[LIBIPT_WARM] = {"libipt's block decoder, warm", libipt_warm, false},
	[REFERENCE] = {"the reference decoder, cold", reference, false},
	[TIMELINE] = {"to the timeline", to_timeline, false},
	[FXT] = {"whole way to .fxt", to_fxt, false},
	[GZ] = {"whole way to .fxt.gz", to_gz, false},
	[GZ_ALL] = {"whole way to .fxt.gz, all processors", to_gz_all, false},
	[PERF_DECODE] = {"perf script, decode only", perf_decode, true},
	[PERF_TEXT] = {"perf script, magic-trace's text", perf_text, true},
};

/* The time of one as a multiple of that of another, in the same run. */
static const struct goal {
	const char *what;
	int of, than;
	enum bound_kind kind;
	double bound;
} goals[] = {
	{"decoding as fast as libipt, cold", LIBIPT_COLD, FAST_COLD, AT_LEAST, 6},
	{"decoding as fast as libipt, warm", LIBIPT_WARM, FAST_WARM, AT_LEAST, 10},
	{"decoding on all processors as on one, cold", FAST_COLD, FAST_COLD_ALL, AT_LEAST, 1.8},
	{"decoding on all processors as on one, warm", FAST_WARM, FAST_WARM_ALL, AT_LEAST, 1.8},
	{"time to .fxt.gz in that of decoding", GZ, FAST_COLD, AT_MOST, 2},
	{".fxt.gz on all processors as on one", GZ, GZ_ALL, AT_LEAST, 1.8},
	{".fxt.gz as fast as magic-trace's text", PERF_TEXT, GZ, AT_LEAST, 60},
};

static bool is_wanted(int measure)
{
	if (!strstr(measures[measure].name, only))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(goals) && only_goals; i++)
		if (goals[i].of == measure || goals[i].than == measure)
			return true;
	return !only_goals;
}

struct series {
	double times[RUNS_MAX];
	size_t cnt;
};

static double median(const struct series *series)
{
	return series->cnt ? series->times[series->cnt / 2] : 0;
}

/* What other runs gave is kept beside this one's. */
static void keep(const char *path, const struct series *series)
{
	FILE *file = history ? fopen(history, "ae") : NULL;

	if (!file)
		return;
	for (size_t i = 0; i < MEASURES; i++)
		if (series[i].cnt)
			fprintf(file, "%ld\t%s\t%s\t%.6f\t%.6f\t%.6f\n", (long)time(NULL), path,
				measures[i].name, median(&series[i]), series[i].times[0],
				series[i].times[series[i].cnt - 1]);
	fclose(file);
}

/* Before report() sorts them. */
static void tell_goals(const char *path, const struct series *series)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < ARRAY_SIZE(goals); i++) {
		const struct series *of = &series[goals[i].of], *than = &series[goals[i].than];
		double figures[RUNS_MAX];
		char what[128];
		size_t cnt = 0;

		for (; cnt < of->cnt && cnt < than->cnt; cnt++)
			figures[cnt] = of->times[cnt] / than->times[cnt];
		snprintf(what, sizeof(what), "%s: %s", slash ? slash + 1 : path, goals[i].what);
		if (cnt)
			tell_goal(what, figures, cnt, goals[i].kind, goals[i].bound);
	}
}

static void report(const struct subject *subject, struct series *series)
{
	double megabytes = (double)subject->aux->size / 1e6, libipt, fast;

	for (size_t i = 0; i < MEASURES; i++)
		qsort(series[i].times, series[i].cnt, sizeof(double), compare_figures);
	libipt = median(&series[LIBIPT_COLD]);
	fast = median(&series[FAST_COLD]);
	printf("%s: %.1f MB\n", subject->path, megabytes);
	printf("  %-40s %9s %22s %8s %12s %12s\n", "", "seconds", "(spread)", "MB/s", "x libipt",
	       "of fast cold");
	for (size_t i = 0; i < MEASURES; i++)
		if (series[i].cnt)
			printf("  %-40s %9.4f   (%.4f to %.4f) %8.1f %12.2f %12.2f\n", measures[i].name,
			       median(&series[i]), series[i].times[0], series[i].times[series[i].cnt - 1],
			       megabytes / median(&series[i]), libipt / median(&series[i]),
			       median(&series[i]) / fast);
}

static void measure(const char *path)
{
	static struct series series[MEASURES];
	struct subject subject = {.path = path};
	int err = recording_load(&subject.snapshot, path);

	if (!err)
		err = history_new(&subject.history, subject.snapshot, NULL);
	if (err)
		die(path, err);
	subject.aux = &subject.snapshot->aux[0];
	new_cache(&subject);
	memset(series, 0, sizeof(series));
	for (size_t run = 0; run < runs; run++) {
		for (size_t i = 0; i < MEASURES; i++) {
			double start = now();

			if ((measures[i].is_perf && (!with_perf || run)) || !is_wanted((int)i))
				continue;
			measures[i].run(&subject);
			series[i].times[series[i].cnt++] = now() - start;
		}
	}
	tell_goals(path, series);
	report(&subject, series);
	keep(path, series);
	decoder_cache_free(subject.cache);
	history_free(subject.history);
	snapshot_free(subject.snapshot);
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "gh:m:pr:")) != -1) {
		if (opt == 'p')
			with_perf = true;
		else if (opt == 'g')
			only_goals = true;
		else if (opt == 'm')
			only = optarg;
		else if (opt == 'h')
			history = optarg;
		else if (opt == 'r' && strtoul(optarg, NULL, 10) - 1 < RUNS_MAX)
			runs = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (only_goals)
		sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = 1});
	for (int i = optind; i < argc; i++)
		measure(argv[i]);
	unlink("/tmp/trailcam-bench.fxt");
	unlink("/tmp/trailcam-bench.fxt.gz");
	return 0;
}
