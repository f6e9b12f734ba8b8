/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make bench: how fast each stage of the way is, in one run on one machine. Stepping is compared with a bare
 * PTRACE_SINGLESTEP loop (its lower bound), decoding with libipt's packet scan of the same bytes, the FXT
 * writer with writing the same number of bytes. Usage: bench PROGRAM
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode/decoder.h"
#include "figures.h"
#include "model/slice_cursor.h"
#include "output/sink.h"
#include "process/launch.h"
#include "process/pin.h"
#include "process/vdso.h"
#include "rebuild/code_files.h"
#include "rebuild/decode.h"
#include "rebuild/resolver.h"
#include "rebuild/traces.h"
#include "session/session.h"
#include "source/code_stores.h"
#include "source/encoder_snapshot.h"
#include "source/source.h"

enum { RUNS = 5 };

static double seconds(void)
{
	return clock_seconds(CLOCK_MONOTONIC);
}

/* Prints the median of the runs, and their spread. */
static double report(const char *what, double *rates, const char *unit)
{
	double middle = median_of(rates, RUNS);

	printf("  %-52s %10.3g %s  (%.3g to %.3g)\n", what, middle, unit, rates[0], rates[RUNS - 1]);
	return middle;
}

static void silence(int *ret_saved)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(stdout);
	*ret_saved = dup(STDOUT_FILENO);
	dup2(null, STDOUT_FILENO);
	close(null);
}

static void unsilence(int saved)
{
	dup2(saved, STDOUT_FILENO);
	close(saved);
}

/* ---- stepping ---- */

/* Steps and nothing else: what the system allows at most. */
static double bare_steps(const char *path)
{
	char *argv[] = {(char *)path, NULL};
	struct launch launch;
	struct pin pin;
	uint64_t cnt = 0;
	double start;
	int status, err = launch_prepare(&launch, &(struct launch_program){.path = path, .argv = argv});

	if (err)
		die("launch", err);
	if (ptrace(PTRACE_SEIZE, launch.pid, NULL, PTRACE_O_TRACEEXEC))
		die("ptrace", -errno);
	pin_init(&pin);
	pin_add(&pin, launch.pid);
	launch_go(&launch);
	start = seconds();
	while (waitpid(launch.pid, &status, __WALL) > 0 && WIFSTOPPED(status)) {
		ptrace(PTRACE_SINGLESTEP, launch.pid, NULL, NULL);
		cnt++;
	}
	pin_release(&pin);
	launch_release(&launch);
	return (double)cnt / (seconds() - start);
}

static bool never(void *ctx)
{
	(void)ctx;
	return false;
}

static int mapped(void *ctx, pid_t pid, const struct maps *before, const struct maps *now, bool all_new)
{
	(void)all_new;
	return code_stores_set_maps(ctx, pid, before, now);
}

static double our_steps(const char *path, struct snapshot **ret_snapshot)
{
	static const struct session_events events = {.stop_wanted = never, .mapped = mapped};
	const struct source_options options = {.ring_size = 64 << 20};
	struct source_config source = {.options = &options};
	struct session_config config = {.events = &events, .driver = source_step.driver};
	char *argv[] = {(char *)path, NULL};
	struct session *session = NULL;
	struct snapshot *snapshot;
	struct launch launch;
	enum session_end end;
	double start, rate;
	int err = launch_prepare(&launch, &(struct launch_program){.path = path, .argv = argv});

	if (!err)
		err = code_stores_new(&source.codes, &(struct code_store_config){0});
	if (!err)
		err = source_step.open(&config.self, &source);
	config.ctx = source.codes;
	if (!err)
		err = session_new(&session, &config);
	if (!err)
		err = session_launch(session, launch.pid);
	if (!err)
		err = snapshot_new(&snapshot);
	if (err)
		die("step", err);
	launch_go(&launch);
	start = seconds();
	err = session_run(session, &end);
	rate = (double)source_step.instruction_cnt(config.self) / (seconds() - start);
	if (!err)
		err = source_step.take(config.self, snapshot);
	if (!err)
		err = session_take(session, snapshot);
	encoder_describe(snapshot, session_now(session));
	if (!err)
		err = vdso_add_own(snapshot);
	if (err)
		die("step", err);
	session_free(session);
	source_step.close(config.self);
	code_stores_free(source.codes);
	launch_release(&launch);
	snapshot->command = strdup(path);
	*ret_snapshot = snapshot;
	return rate;
}

static void bench_stepping(const char *path, struct snapshot **ret_snapshot)
{
	double bare[RUNS], ours[RUNS], bound, rate;
	int saved;

	silence(&saved);
	for (int i = 0; i < RUNS; i++) {
		struct snapshot *snapshot;

		bare[i] = bare_steps(path);
		ours[i] = our_steps(path, &snapshot);
		if (i + 1 < RUNS)
			snapshot_free(snapshot);
		else
			*ret_snapshot = snapshot;
	}
	unsilence(saved);
	puts("stepping");
	bound = report("bare PTRACE_SINGLESTEP (lower bound)", bare, "insn/s");
	rate = report("step source", ours, "insn/s");
	printf("  %-52s %10.2f of the bound\n", "", rate / bound);
}

/* ---- decoding: the recorded stream many times over, since it is short ---- */

enum { REPEAT = 200 };

static int ignore_packet(void *ctx, uint64_t offset, const char *text)
{
	(void)ctx;
	(void)offset;
	(void)text;
	return 0;
}

/* The stream of the main thread, repeated: each copy begins with a PSB. */
static struct aux_trace repeated(const struct aux_trace *aux)
{
	struct aux_trace longer = *aux;

	longer.size = aux->size * REPEAT;
	longer.bytes = malloc(longer.size);
	if (!longer.bytes)
		die("memory", -ENOMEM);
	for (size_t i = 0; i < REPEAT; i++)
		memcpy(longer.bytes + i * aux->size, aux->bytes, aux->size);
	return longer;
}

static double decode_once(struct snapshot *snapshot, unsigned int threads, struct decoded **ret_decoded)
{
	struct decode_config config = {.threads = threads};
	double start = seconds();
	int err = decode_snapshot(ret_decoded, snapshot, &config);

	if (err)
		die("decode", err);
	return (double)snapshot->aux[0].size / 1e6 / (seconds() - start);
}

static void bench_decoding(struct snapshot *snapshot)
{
	double scan[RUNS], one[RUNS], all[RUNS], bound, rate, rate_all;
	uint8_t *bytes = snapshot->aux[0].bytes;

	snapshot->aux[0] = repeated(&snapshot->aux[0]);
	for (int i = 0; i < RUNS; i++) {
		struct decoded *decoded;
		double start = seconds();

		decoder_packets(&snapshot->params, snapshot->aux[0].bytes, snapshot->aux[0].size,
				ignore_packet, NULL);
		scan[i] = (double)snapshot->aux[0].size / 1e6 / (seconds() - start);
		one[i] = decode_once(snapshot, 1, &decoded);
		decoded_free(decoded);
		all[i] = decode_once(snapshot, 0, &decoded);
		decoded_free(decoded);
	}
	free(snapshot->aux[0].bytes);
	snapshot->aux[0].bytes = bytes;
	snapshot->aux[0].size /= REPEAT;
	puts("decoding (packets to timeline)");
	bound = report("packets as text", scan, "MB/s");
	rate = report("decode and stacks, 1 thread", one, "MB/s");
	rate_all = report("decode and stacks, all processors", all, "MB/s");
	printf("  %-52s %10.2f of the packets' rate, %.2f times with all processors\n", "", rate / bound,
	       rate_all / rate);
}

/*
 * ---- call stacks: a hundred million branches of one thread, those of the recorded stream over and over ----
 */

enum { BRANCHES = 100000000 };

static void branches_of(struct history *history, const struct snapshot *snapshot,
			struct branch_list *ret_branches)
{
	const struct decode_config config = {.threads = 1};
	struct decoder_cache *cache;
	struct decoder_config decoder;
	struct schedule schedule;
	int err = decoder_cache_new(&cache);

	if (!err)
		err = schedule_make(&schedule, history, &snapshot->aux[0]);
	if (!err) {
		decoder = traces_decoder(snapshot, history, &schedule, &config, cache);
		err = decoder_run(&decoder, snapshot->aux[0].bytes, snapshot->aux[0].size, ret_branches);
		decoder_cache_free(cache);
		schedule_release(&schedule);
	}
	if (err)
		die("decode", err);
}

/* The list as it would be some time later. */
static void move_on(struct branch_list *branches)
{
	uint64_t span = branches->items[branches->cnt - 1].tsc - branches->items[0].tsc + 1;

	for (size_t i = 0; i < branches->cnt; i++)
		branches->items[i].tsc += span;
}

static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void bench_stacks(const struct snapshot *snapshot)
{
	struct resolver resolver = {.snapshot = snapshot};
	const struct stacks_config config = {.symbol_at = resolver_symbol_at,
					     .time_ns = resolver_time_ns,
					     .landing = resolver_landing,
					     .ctx = &resolver};
	struct timeline_thread thread = {0};
	struct branch_list branches = {0};
	struct history *history;
	struct stacks *stacks;
	double building = 0, joining = 0, finishing;
	size_t before, held, cnt = 0;
	int err = history_new(&history, snapshot, NULL);

	if (err)
		die("history", err);
	resolver.process = history_process(history, snapshot->aux[0].pid);
	branches_of(history, snapshot, &branches);
	before = in_use();
	err = stacks_new(&stacks, &config, &thread);
	for (; cnt < BRANCHES && !err; cnt += branches.cnt) {
		double start = seconds(), built;
		struct stacks_piece *piece;

		err = stacks_piece_new(&piece, &config, branches.items, branches.cnt);
		built = seconds();
		if (!err)
			err = stacks_append(stacks, piece);
		building += built - start;
		joining += seconds() - built;
		move_on(&branches);
	}
	held = in_use() - before;
	finishing = -seconds();
	if (!err)
		err = stacks_finish(stacks);
	finishing += seconds();
	if (err)
		die("stacks", err);
	puts("call stacks (branches to slices), 1 thread");
	printf("  %-52s %10.3g branch/s\n", "pieces, built independently", (double)cnt / building);
	printf("  %-52s %10.3g branch/s\n", "joined", (double)cnt / joining);
	printf("  %-52s %10.3g branch/s\n", "finished", (double)cnt / finishing);
	printf("  %-52s %10.2f bytes a branch, %.2f GB for %zu million, which are %zu million calls\n",
	       "in memory", (double)held / (double)cnt, (double)held / 1e9, cnt / 1000000,
	       timeline_thread_slice_cnt(&thread) / 1000000);
	stacks_free(stacks);
	timeline_thread_release(&thread);
	branch_list_release(&branches);
	history_free(history);
}

/* ---- writing ---- */

static double write_once(const struct timeline *timeline, const char *path, size_t slice_cnt,
			 uint64_t *ret_bytes)
{
	struct output *output;
	double start = seconds();
	int err = output_open(&output, path);

	if (!err)
		err = sink_fxt.write(timeline, output);
	*ret_bytes = err ? 0 : output_size(output);
	if (!err)
		err = output_close(output);
	if (err)
		die("write", err);
	return (double)slice_cnt / (seconds() - start);
}

static void bench_writing(struct snapshot *snapshot)
{
	double plain[RUNS], zipped[RUNS];
	char dir[] = "/tmp/trailcam-bench-XXXXXX", fxt[64], gz[64];
	struct decoded *decoded;
	uint64_t bytes;

	if (!mkdtemp(dir))
		die("mkdtemp", -errno);
	snprintf(fxt, sizeof(fxt), "%s/x.fxt", dir);
	snprintf(gz, sizeof(gz), "%s/x.fxt.gz", dir);
	decode_once(snapshot, 0, &decoded);
	for (int i = 0; i < RUNS; i++) {
		plain[i] = write_once(decoded_timeline(decoded), fxt, decoded_slice_cnt(decoded), &bytes);
		zipped[i] = write_once(decoded_timeline(decoded), gz, decoded_slice_cnt(decoded), &bytes);
	}
	puts("writing");
	report("FXT", plain, "slices/s");
	report("FXT, gzip", zipped, "slices/s");
	printf("  %-52s %10.1f bytes a slice\n", "", (double)bytes / (double)decoded_slice_cnt(decoded));
	decoded_free(decoded);
	unlink(fxt);
	unlink(gz);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	struct snapshot *snapshot;
	struct code_files copies;
	int err;

	if (argc != 2) {
		fputs("usage: bench PROGRAM\n", stderr);
		return 2;
	}
	bench_stepping(argv[1], &snapshot);
	err = code_files_open(&copies, snapshot);
	if (err)
		die("copies", err);
	bench_decoding(snapshot);
	bench_stacks(snapshot);
	bench_writing(snapshot);
	code_files_close(&copies);
	snapshot_free(snapshot);
	return 0;
}
