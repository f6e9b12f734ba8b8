/* SPDX-License-Identifier: BSD-2-Clause */
/* The text has the format of memtrace's own dump_trace, for its readers. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/memtrace/memtrace.h"
#include "output/bytes/output.h"
#include "output/shown_args.h"

struct dump {
	struct memtrace_input input;
	bool json;
	const struct memtrace *trace;
	struct output *output; /* of text */
	uint64_t *codes;       /* of the call stack at hand */
	size_t code_cap;
};

static const char *const kinds[] = {
	[MEMTRACE_ALLOC] = "alloc",
	[MEMTRACE_PROMOTE] = "promote",
	[MEMTRACE_COLLECT] = "collect",
};

static int take_stack(struct dump *dump, uint32_t stack, size_t *ret_cnt)
{
	*ret_cnt = dump->trace->stacks[stack].depth;
	if (array_reserve(&dump->codes, &dump->code_cap, *ret_cnt, sizeof(*dump->codes)))
		return -ENOMEM;
	memtrace_stack_codes(dump->trace, stack, dump->codes);
	return 0;
}

/* ---- text ---- */

static void write_code(const struct dump *dump, uint64_t code)
{
	const struct memtrace_location *locations;
	size_t cnt = memtrace_locations(dump->trace, code, &locations);

	if (!cnt)
		output_printf(dump->output, " $%" PRId64, (int64_t)code);
	for (size_t i = 0; i < cnt; i++) {
		output_write(dump->output, " ", 1);
		write_on_line(dump->output, locations[i].function);
		output_write(dump->output, "@", 1);
		write_on_line(dump->output, locations[i].file);
		output_printf(dump->output, ":%u:%u-%u", locations[i].line, locations[i].start_char,
			      locations[i].end_char);
	}
}

static int write_entry(struct dump *dump, const struct memtrace_entry *entry)
{
	static const char *const allocs[] = {
		[MEMTRACE_MINOR] = "alloc",
		[MEMTRACE_MAJOR] = "alloc_major",
		[MEMTRACE_EXTERNAL] = "alloc_ext",
	};
	const struct memtrace_sample *sample;
	size_t cnt;

	output_printf(dump->output, "%010" PRIu64 " %010" PRId64, entry->time_us, (int64_t)entry->id);
	if (entry->kind != MEMTRACE_ALLOC) {
		output_printf(dump->output, " %s\n", kinds[entry->kind]);
		return 0;
	}
	sample = &dump->trace->samples[entry->sample];
	if (take_stack(dump, sample->stack, &cnt))
		return -ENOMEM;
	output_printf(dump->output, " %s %" PRId64 " len=%" PRId64 " dom=%u % 4d:", allocs[sample->source],
		      (int64_t)sample->nsamples, (int64_t)sample->length, entry->domain,
		      (int)sample->common_prefix);
	for (size_t i = 0; i < cnt; i++)
		write_code(dump, dump->codes[i]);
	output_write(dump->output, "\n", 1);
	return 0;
}

static int write_text(struct dump *dump)
{
	CLEANUP(output_abortp) struct output *output = NULL;
	int err = output_open(&output, "-");

	dump->output = output;
	for (size_t i = 0; i < dump->trace->entry_cnt && !err; i++)
		err = write_entry(dump, &dump->trace->entries[i]);
	return err ? err : output_close(TAKE_PTR(output));
}

/* ---- JSON ---- */

static void put_code(yajl_gen gen, const struct memtrace *trace, uint64_t code)
{
	const struct memtrace_location *locations;
	size_t cnt = memtrace_locations(trace, code, &locations);

	if (!cnt) {
		yajl_gen_map_open(gen);
		json_key_hex(gen, "code", code);
		yajl_gen_map_close(gen);
	}
	for (size_t i = 0; i < cnt; i++) {
		yajl_gen_map_open(gen);
		json_key_text(gen, "function", locations[i].function);
		json_key_text(gen, "file", locations[i].file);
		json_key_number(gen, "line", locations[i].line);
		json_key_number(gen, "start", locations[i].start_char);
		json_key_number(gen, "end", locations[i].end_char);
		yajl_gen_map_close(gen);
	}
}

static int put_alloc(yajl_gen gen, struct dump *dump, const struct memtrace_sample *sample)
{
	size_t cnt;

	if (take_stack(dump, sample->stack, &cnt))
		return -ENOMEM;
	json_key_text(gen, "source", memtrace_source_name(sample->source));
	json_key_number(gen, "size", memtrace_size(dump->trace, sample));
	json_key_number(gen, "samples", sample->nsamples);
	json_key_number(gen, "bytes", memtrace_bytes_of(dump->trace, sample->nsamples));
	json_key_array(gen, "stack");
	for (size_t i = 0; i < cnt; i++)
		put_code(gen, dump->trace, dump->codes[i]);
	yajl_gen_array_close(gen);
	return 0;
}

static int put_entry(yajl_gen gen, struct dump *dump, const struct memtrace_entry *entry)
{
	int err = 0;

	yajl_gen_map_open(gen);
	json_key_number(gen, "time_us", entry->time_us);
	json_key_number(gen, "id", entry->id);
	json_key_text(gen, "event", kinds[entry->kind]);
	json_key_number(gen, "domain", entry->domain);
	if (entry->kind == MEMTRACE_ALLOC)
		err = put_alloc(gen, dump, &dump->trace->samples[entry->sample]);
	yajl_gen_map_close(gen);
	yajl_gen_reset(gen, "\n");
	return err;
}

static int put_json(struct dump *dump)
{
	CLEANUP(yajl_gen_freep) yajl_gen gen = json_lines_to_stdout();
	int err = gen ? 0 : -ENOMEM;

	for (size_t i = 0; i < dump->trace->entry_cnt && !err; i++)
		err = put_entry(gen, dump, &dump->trace->entries[i]);
	return err;
}

/* ---- the command ---- */

enum { OPT_JSON = 256 };

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "JSON, an object on each line: trailcam(1) lists its keys", 30},
	{0},
};

static const struct option_field fields[] = {OPTION_FIELD(OPT_JSON, struct dump, json), {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct dump *dump = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &dump->input;
	return option_fields_set(fields, dump, key, arg, state);
}

static const struct argp argp = {
	.children = memtrace_input_children,
	.options = options,
	.parser = parse,
	.args_doc = "TRACE",
	.doc = "  trailcam memtrace dump app.ctf | less\n"
	       "  trailcam memtrace dump --allocated-in 'List.*' --min-lifetime 100ms app.ctf\n\n"
	       "Show every event of an allocation trace, a line each: microseconds since it began, which "
	       "allocation, and what happened. The lines are those of memtrace's own dump_trace.\v"
	       "Exit status: 0: shown; 1: not a trace, or damaged (what comes before is shown); 2: wrong "
	       "usage.",
};

int memtrace_dump(int argc, char **argv)
{
	CLEANUP(memtrace_freep) struct memtrace *trace = NULL;
	struct dump dump = {0};
	int err;

	options_parse(&argp, argc, argv, 0, &dump);
	err = memtrace_load(&trace, dump.input.path, &dump.input.filter);
	if (err)
		return print_failure(err, STATUS_FAILED);
	dump.trace = trace;
	err = dump.json ? put_json(&dump) : write_text(&dump);
	free(dump.codes);
	return memtrace_end(trace, err);
}
