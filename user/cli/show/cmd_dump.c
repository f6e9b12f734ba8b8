/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump: each hand-off of the way as stable text, one per line.
 *
 *	--packets	OFFSET PACKET, after a line "# thread PID TID bytes SIZE from OFFSET" for each stream
 *	--branches	TIME_NS TID KIND[+start|+end|:GAP|:EVENT] FROM TO FROM_NAME TO_NAME, tab-separated; an
 *			event's TO is its payload
 *	--instructions	TID IP, as the step log; "TID gap REASON" where some are missing
 *	--slices	START_NS END_NS DEPTH NAME PID TID, tab-separated; depth -1: an instant
 *	--hits		a block for each hit: its registers, its stack
 *
 * With --json some of them are objects, one per line (dump_json.c).
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/on_line.h"
#include "cli/show/dump_json.h"
#include "decode/decoder.h"
#include "model/sideband.h"
#include "output/shown_args.h"
#include "output/sink.h"
#include "rebuild/decode.h"
#include "recording/recording.h"

/* ---- packets ---- */

static int print_packet(void *ctx, uint64_t offset, const char *text)
{
	const struct aux_trace *aux = ctx;

	printf("%016" PRIx64 "  %s\n", aux->offset + offset, text);
	return 0;
}

static int dump_packets(const char *path)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	int err = recording_load(&snapshot, path);

	for (size_t i = 0; !err && i < snapshot->aux_cnt; i++) {
		struct aux_trace *aux = &snapshot->aux[i];

		if (aux->cpu >= 0)
			printf("# processor %d", aux->cpu);
		else
			printf("# thread %d %d", aux->pid, aux->tid);
		printf(" bytes %zu from %" PRIu64 "\n", aux->size, aux->offset);
		err = decoder_packets(&snapshot->params, aux->bytes, aux->size, print_packet, aux);
	}
	return err;
}

/* ---- sideband ---- */

static void print_name_line(const char *name)
{
	on_line_put(name, stdout);
	putchar('\n');
}

static void print_record(const struct sideband_record *record)
{
	printf("%" PRIu64 " cpu %d ", record->time_ns, record->cpu);
	switch (record->type) {
	case PERF_RECORD_MMAP2:
		printf("mmap %d %d %#" PRIx64 " %#" PRIx64 " %#" PRIx64 " ", record->pid, record->tid,
		       record->mapping.addr, record->mapping.size, record->mapping.file_offset);
		print_name_line(record->mapping.name);
		break;
	case PERF_RECORD_COMM:
		printf("%s %d %d ", record->exec ? "exec" : "comm", record->pid, record->tid);
		print_name_line(record->name);
		break;
	case PERF_RECORD_FORK:
		printf("fork %d %d from %d %d\n", record->pid, record->tid, record->parent_pid,
		       record->parent_tid);
		break;
	case PERF_RECORD_EXIT:
		printf("exit %d %d\n", record->pid, record->tid);
		break;
	case PERF_RECORD_ITRACE_START:
		printf("start %d %d\n", record->pid, record->tid);
		break;
	default:
		printf("switch-%s %d %d\n", record->out ? "out" : "in", record->pid, record->tid);
		break;
	}
}

static int dump_sideband(const char *path)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	struct sideband_record record;
	size_t pos = 0;
	int err = recording_load(&snapshot, path);

	if (err)
		return err;
	while ((err = sideband_next(snapshot, &pos, &record)) > 0)
		print_record(&record);
	return err;
}

/* ---- branches ---- */

static void print_place(char separator, uint64_t ip, const struct symbol *symbol)
{
	putchar(separator);
	on_line_put(symbol ? symbol->name : "-", stdout);
	if (symbol && symbol->named && ip >= symbol->start)
		printf("+0x%" PRIx64, ip - symbol->start);
}

static int print_branch(void *ctx, int32_t tid, const struct branch *branch, uint64_t time_ns,
			const struct symbol *from, const struct symbol *to)
{
	(void)ctx;
	const char *what = branch->kind == BRANCH_GAP	  ? branch_gap_to_str(branch->gap)
			   : branch->kind == BRANCH_EVENT ? branch_event_to_str(branch->gap)
							  : "";

	printf("%" PRIu64 "\t%d\t%s%s%s%s%s\t%" PRIx64 "\t%" PRIx64, time_ns, tid,
	       branch_kind_to_str(branch->kind), *what ? ":" : "", what,
	       branch->flags & BRANCH_TRACE_START ? "+start" : "",
	       branch->flags & BRANCH_TRACE_END ? "+end" : "", branch->from, branch->to);
	print_place('\t', branch->from, from);
	print_place('\t', branch->to, to);
	putchar('\n');
	return 0;
}

static int dump_branches(const char *path)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	struct decode_visitor visitor = {.branch = print_branch};
	int err = recording_load(&snapshot, path);

	return err ? err : decode_branches(snapshot, &(struct decode_config){0}, &visitor);
}

/* ---- instructions ---- */

static int print_instruction(void *ctx, int32_t tid, uint64_t ip, enum branch_gap gap)
{
	(void)ctx;
	if (gap)
		printf("%d gap %s\n", tid, branch_gap_to_str(gap));
	else
		printf("%d %" PRIx64 "\n", tid, ip);
	return 0;
}

static int dump_instructions(const char *path)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	struct decode_visitor visitor = {.instruction = print_instruction};
	int err = recording_load(&snapshot, path);

	return err ? err : decode_instructions(snapshot, &(struct decode_config){0}, &visitor);
}

/* ---- slices and hits: the timeline ---- */

static int dump_slices(const char *path)
{
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	CLEANUP(output_abortp) struct output *output = NULL;
	int err = decode_file(&decoded, path, &(struct decode_config){0});

	if (!err)
		err = output_open(&output, "-");
	if (!err)
		err = sink_slices.write(decoded_timeline(decoded), output);
	return err ? err : output_close(TAKE_PTR(output));
}

static void print_hit(const struct timeline *timeline, size_t i)
{
	const struct timeline_hit *placed = &timeline->hits[i];
	const struct hit *hit = placed->hit;
	char comm[HIT_COMM_BYTES + 1];

	snprintf(comm, sizeof(comm), "%.*s", HIT_COMM_BYTES, hit->comm);
	printf("hit %zu\n  trigger ", i);
	print_name_line(hit->trigger < timeline->trigger_cnt ? timeline->triggers[hit->trigger] : "?");
	printf("  time_ns %" PRIu64 "\n  monotonic_ns %llu\n", placed->time_ns,
	       (unsigned long long)hit->time_ns);
	printf("  pid %u\n  tid %u\n  cpu %u\n  comm ", hit->pid, hit->tid, hit->cpu);
	print_name_line(comm);
	printf("  return_address 0x%llx\n", (unsigned long long)hit->return_address);
	if (hit->begin_ns != hit->time_ns)
		printf("  elapsed_ns %llu\n", (unsigned long long)(hit->time_ns - hit->begin_ns));
	if (hit->goroutine)
		printf("  goroutine %llu\n", (unsigned long long)hit->goroutine);
	if (hit->stopped_ns)
		printf("  trace_stopped_after_ns %llu\n",
		       (unsigned long long)(hit->stopped_ns - hit->time_ns));
	for (size_t arg = 0; arg < HIT_ARG_CNT; arg++)
		if (hit->args_known & 1u << arg)
			printf("  arg%zu 0x%llx\n", arg, (unsigned long long)hit_arg(hit, arg));
	for (size_t value = 0; value < placed->value_cnt; value++) {
		printf("  value ");
		on_line_put(placed->values[value].name, stdout);
		printf(" = ");
		on_line_put(placed->values[value].text ? placed->values[value].text : SHOWN_UNREADABLE,
			    stdout);
		putchar('\n');
	}
	for (size_t reg = 0; reg < HIT_REG_CNT; reg++)
		if (hit_reg_name(reg))
			printf("  %s 0x%llx\n", hit_reg_name(reg), (unsigned long long)hit_reg(hit, reg));
	for (size_t frame = 0; frame < placed->hit->stack_cnt; frame++) {
		printf("  #%zu 0x%" PRIx64, frame, placed->hit->stack[frame]);
		print_place(' ', placed->hit->stack[frame], placed->stack_symbols[frame]);
		putchar('\n');
	}
	if (hit->action & HIT_CUT)
		puts("  " SHOWN_CUT);
}

static int dump_hits(const char *path)
{
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	int err = decode_file(&decoded, path, &(struct decode_config){0});

	for (size_t i = 0; !err && i < decoded_timeline(decoded)->hit_cnt; i++)
		print_hit(decoded_timeline(decoded), i);
	return err;
}

/* ---- the command ---- */

static const struct view {
	const char *option;
	const char *doc;
	int (*dump)(const char *path);
	int (*json)(const char *path); /* NULL: as text only */
} views[] = {
	{"packets", "The PT packets of each thread", dump_packets, NULL},
	{"sideband", "The sideband: which thread ran which code, where and when", dump_sideband, NULL},
	{"branches", "Every branch, with its time and symbols", dump_branches, dump_json_branches},
	{"instructions", "The address of every instruction executed (slow)", dump_instructions, NULL},
	{"slices", "Every function call: start_ns, end_ns, depth, name, pid, tid", dump_slices,
	 dump_json_slices},
	{"hits", "Every hit: time, thread, registers, call stack", dump_hits, dump_json_hits},
};

enum { OPT_VIEW = 256, OPT_JSON = OPT_VIEW + ARRAY_SIZE(views) };

struct dump_options {
	const struct view *view;
	const char *recording;
	bool json;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct dump_options *dump = state->input;

	if (key >= OPT_VIEW && key < OPT_VIEW + (int)ARRAY_SIZE(views)) {
		if (dump->view)
			argp_error(state, "--%s and --%s: one view at a time", dump->view->option,
				   views[key - OPT_VIEW].option);
		dump->view = &views[key - OPT_VIEW];
		return 0;
	}
	switch (key) {
	case OPT_JSON:
		dump->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (dump->recording)
			usage_error(state, "one recording at a time, please: '%s' is one too many", arg);
		dump->recording = arg;
		return 0;
	case ARGP_KEY_END:
		if (!dump->view)
			argp_error(state, "say what to show: --packets, --sideband, --branches, "
					  "--instructions, --slices or --hits");
		if (dump->json && !dump->view->json)
			argp_error(state, "--json is for --branches, --slices and --hits; --%s is text only",
				   dump->view->option);
		if (!dump->recording)
			argp_error(state, "no recording given (trailcam run --keep-recording DIR makes one)");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_dump(int argc, char **argv)
{
	struct argp_option options[ARRAY_SIZE(views) + 2] = {0};
	const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "RECORDING",
		.doc = "  trailcam dump --slices rec | head\n\n"
		       "Show what is in a recording, as text.\v"
		       "Exit status: 0: shown; 1: not a recording, or damaged; 2: wrong usage.",
	};
	struct dump_options dump = {0};
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		options[i] = (struct argp_option){
			.name = views[i].option, .key = OPT_VIEW + (int)i, .doc = views[i].doc};
	options[ARRAY_SIZE(views)] =
		(struct argp_option){.name = "json",
				     .key = OPT_JSON,
				     .doc = "Of branches, slices or hits: as JSON, an object a line"};
	options_parse(&argp, argc, argv, 0, &dump);
	err = (dump.json ? dump.view->json : dump.view->dump)(dump.recording);
	return end_output(err);
}
