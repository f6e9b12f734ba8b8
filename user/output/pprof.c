/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timeline as a profile for pprof and what reads its format (Pyroscope, Parca, speedscope), a Profile of
 * https://github.com/google/pprof/blob/main/proto/profile.proto. Each stack of each thread is a sample with
 * two values: how many calls it is, and the time that it took by itself. A function is one location, at its
 * beginning: a timeline does not keep where a call was made. Memory is by the number of stacks that differ.
 * Hits, gaps and the order of calls are not in it.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"
#include "base/file/path.h"
#include "base/utf8.h"
#include "output/bytes/proto.h"
#include "output/names.h"
#include "output/sink.h"
#include "output/walk.h"

/* Profile */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};

/* What is in it */
enum { TYPE_KIND = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3 };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4, FUNCTION_LINE = 5 };

/* A function, or a pause by its name. */
struct function {
	const void *key; /* its symbol, or the name */
	const char *name;
	const struct symbol *symbol; /* NULL: a pause */
};

/* A call below its caller; a thread is the parent of its outermost calls. */
struct stack {
	size_t parent;	 /* index */
	size_t function; /* index; of a thread: that of the thread */
	uint64_t call_cnt, self_ns;
};

struct profile {
	const struct timeline *timeline;
	struct function *functions;
	size_t function_cnt, function_cap;
	struct stack *stacks;
	size_t stack_cnt, stack_cap;
	struct hash_index function_index, stack_index;
	size_t at;	      /* the innermost open call, or the thread */
	uint64_t since_ns;    /* time from here on belongs to nobody yet */
	uint64_t end_ns;      /* the last end */
	struct names strings; /* numbers are one less: 0 is "" */
	struct proto out, message, inner;
	int err;
};

/* ---- stacks ---- */

static size_t function_of(struct profile *profile, const struct slice *slice)
{
	const char *name = slice_name(slice);
	const void *key = slice->symbol ? (const void *)slice->symbol : (const void *)name;
	uint64_t hash = hash_number(0, (uintptr_t)key);
	const struct function function = {.key = key, .name = name, .symbol = slice->symbol};

	for (size_t at = 0, i; (i = hash_index_next(&profile->function_index, hash, &at)) != HASH_INDEX_END;)
		if (profile->functions[i].key == key)
			return i;
	profile->err = ARRAY_PUSH(profile->functions, profile->function_cnt, profile->function_cap, function);
	if (!profile->err)
		profile->err = hash_index_add(&profile->function_index, hash, profile->function_cnt - 1);
	return profile->err ? 0 : profile->function_cnt - 1;
}

static size_t add_stack(struct profile *profile, size_t parent, size_t function)
{
	const struct stack stack = {.parent = parent, .function = function};

	profile->err = ARRAY_PUSH(profile->stacks, profile->stack_cnt, profile->stack_cap, stack);
	return profile->err ? 0 : profile->stack_cnt - 1;
}

static size_t stack_of(struct profile *profile, size_t parent, size_t function)
{
	uint64_t hash = hash_number(hash_number(0, parent), function);
	size_t added;

	for (size_t at = 0, i; (i = hash_index_next(&profile->stack_index, hash, &at)) != HASH_INDEX_END;)
		if (profile->stacks[i].parent == parent && profile->stacks[i].function == function)
			return i;
	added = add_stack(profile, parent, function);
	if (!profile->err)
		profile->err = hash_index_add(&profile->stack_index, hash, added);
	return added;
}

static void pass_time(struct profile *profile, uint64_t to_ns)
{
	if (profile->stacks[profile->at].parent != SIZE_MAX)
		profile->stacks[profile->at].self_ns += to_ns - profile->since_ns;
	profile->since_ns = to_ns;
}

static void begin_thread(void *ctx, const struct timeline_thread *thread)
{
	struct profile *profile = ctx;

	profile->since_ns = 0;
	if (!profile->err)
		profile->at = add_stack(profile, SIZE_MAX, (size_t)(thread - profile->timeline->threads));
}

static void begin_slice(void *ctx, const struct slice *slice)
{
	struct profile *profile = ctx;
	size_t function;

	if (profile->err)
		return;
	pass_time(profile, slice->start_ns);
	function = function_of(profile, slice);
	if (!profile->err)
		profile->at = stack_of(profile, profile->at, function);
	if (!profile->err)
		profile->stacks[profile->at].call_cnt++;
}

static void end_slice(void *ctx, const struct slice *slice)
{
	struct profile *profile = ctx;

	if (profile->err)
		return;
	pass_time(profile, slice->end_ns);
	if (slice->end_ns > profile->end_ns)
		profile->end_ns = slice->end_ns;
	profile->at = profile->stacks[profile->at].parent;
}

/* ---- the message ---- */

static uint64_t string_of(struct profile *profile, const char *text)
{
	uint32_t number = names_get(&profile->strings, 0, text);

	profile->err = number ? profile->err : -ENOMEM;
	return number ? number - 1 : 0;
}

static void put_string(struct profile *profile, struct proto *proto, uint32_t field, const char *text)
{
	proto_number(proto, field, string_of(profile, text));
}

static void end_message(struct profile *profile, uint32_t field)
{
	proto_message(&profile->out, field, &profile->message);
}

static void put_type(struct profile *profile, uint32_t field, const char *kind, const char *unit)
{
	put_string(profile, &profile->message, TYPE_KIND, kind);
	put_string(profile, &profile->message, TYPE_UNIT, unit);
	end_message(profile, field);
}

static void put_label(struct profile *profile, const char *key, uint32_t field, uint64_t value)
{
	put_string(profile, &profile->inner, LABEL_KEY, key);
	proto_number(&profile->inner, field, value);
	proto_message(&profile->message, SAMPLE_LABEL, &profile->inner);
}

/* Innermost first. A location has the number of its function. */
static void put_sample(struct profile *profile, const struct stack *stack)
{
	const struct timeline_thread *thread;

	if (stack->parent == SIZE_MAX)
		return;
	proto_varint(&profile->inner, stack->call_cnt);
	proto_varint(&profile->inner, stack->self_ns);
	proto_message(&profile->message, SAMPLE_VALUES, &profile->inner);
	for (; stack->parent != SIZE_MAX; stack = &profile->stacks[stack->parent])
		proto_varint(&profile->inner, stack->function + 1);
	proto_message(&profile->message, SAMPLE_LOCATIONS, &profile->inner);
	thread = &profile->timeline->threads[stack->function];
	put_label(profile, "thread", LABEL_TEXT, string_of(profile, thread->name));
	put_label(profile, "pid", LABEL_NUMBER, (uint64_t)thread->pid);
	put_label(profile, "tid", LABEL_NUMBER, (uint64_t)thread->tid);
	end_message(profile, PROFILE_SAMPLE);
}

/* Mappings are numbered by their files. */
static uint64_t put_mapping(struct profile *profile, struct names *objects, const struct symbol *symbol)
{
	size_t known = objects->cnt;
	uint32_t number = symbol && symbol->object ? names_get(objects, 0, symbol->object) : 0;

	if (!number || objects->cnt == known)
		return number;
	proto_number(&profile->message, MAPPING_ID, number);
	put_string(profile, &profile->message, MAPPING_FILE, symbol->object);
	proto_number(&profile->message, MAPPING_HAS_FUNCTIONS, 1); /* or pprof looks for the file */
	end_message(profile, PROFILE_MAPPING);
	return number;
}

/* pprof takes the first mapping for the program: the file of the command line's first word. */
static void put_program(struct profile *profile, struct names *objects)
{
	const char *command = profile->timeline->command;
	size_t len = strcspn(command, " ");
	const char *slash = memrchr(command, '/', len), *name = slash ? slash + 1 : command;

	len -= (size_t)(name - command);
	for (size_t i = 0; i < profile->function_cnt; i++) {
		const struct symbol *symbol = profile->functions[i].symbol;
		const char *base = symbol && symbol->object ? path_name(symbol->object) : "";

		if (!strncmp(base, name, len) && !base[len]) {
			put_mapping(profile, objects, symbol);
			return;
		}
	}
}

static void put_function(struct profile *profile, struct names *objects, size_t i)
{
	const struct function *function = &profile->functions[i];
	const struct symbol *symbol = function->symbol;
	uint64_t mapping = put_mapping(profile, objects, symbol);

	put_string(profile, &profile->message, FUNCTION_NAME, function->name);
	put_string(profile, &profile->message, FUNCTION_SYSTEM_NAME, function->name);
	if (symbol && symbol->file) {
		put_string(profile, &profile->message, FUNCTION_FILE, symbol->file);
		proto_number(&profile->message, FUNCTION_LINE, symbol->line);
	}
	proto_number(&profile->message, FUNCTION_ID, i + 1);
	end_message(profile, PROFILE_FUNCTION);

	proto_number(&profile->inner, LINE_FUNCTION, i + 1);
	if (symbol)
		proto_number(&profile->inner, LINE_NUMBER, symbol->line);
	proto_number(&profile->message, LOCATION_ID, i + 1);
	if (mapping)
		proto_number(&profile->message, LOCATION_MAPPING, mapping);
	if (symbol)
		proto_number(&profile->message, LOCATION_ADDRESS, symbol->start);
	proto_message(&profile->message, LOCATION_LINE, &profile->inner);
	end_message(profile, PROFILE_LOCATION);
}

static void put_about(struct profile *profile)
{
	const struct timeline *timeline = profile->timeline;

	proto_number(&profile->out, PROFILE_TIME, timeline->base_realtime_ns);
	proto_number(&profile->out, PROFILE_DURATION, profile->end_ns);
	if (timeline->period_ns) {
		put_type(profile, PROFILE_PERIOD_TYPE, "time", "nanoseconds");
		proto_number(&profile->out, PROFILE_PERIOD, timeline->period_ns);
	}
	put_string(profile, &profile->out, PROFILE_COMMENT, timeline->command);
	if (timeline->source)
		put_string(profile, &profile->out, PROFILE_COMMENT, timeline->source);
	put_string(profile, &profile->out, PROFILE_DEFAULT_TYPE, "time");
}

/* All others refer to them, so they come last: the order of fields is free. */
static void put_strings(struct profile *profile)
{
	for (size_t i = 1; i < profile->strings.cnt && !profile->err; i++) {
		char *clean = utf8_clean(profile->strings.items[i].text, SIZE_MAX / 4);

		if (clean)
			proto_text(&profile->out, PROFILE_STRING, clean);
		profile->err = clean ? 0 : -ENOMEM;
		free(clean);
	}
}

static void put_profile(struct profile *profile, struct names *objects)
{
	string_of(profile, "");
	put_type(profile, PROFILE_SAMPLE_TYPE, "calls", "count");
	put_type(profile, PROFILE_SAMPLE_TYPE, "time", "nanoseconds");
	for (size_t i = 0; i < profile->stack_cnt; i++)
		put_sample(profile, &profile->stacks[i]);
	put_program(profile, objects);
	for (size_t i = 0; i < profile->function_cnt; i++)
		put_function(profile, objects, i);
	put_about(profile);
	put_strings(profile);
	if (profile->out.no_memory || profile->message.no_memory || profile->inner.no_memory)
		profile->err = -ENOMEM;
}

static int write_pprof(const struct timeline *timeline, struct output *output)
{
	static const struct walk_ops ops = {.depth_max = WALK_VIEWER_DEPTH,
					    .thread = begin_thread,
					    .begin = begin_slice,
					    .end = end_slice};
	struct profile profile = {.timeline = timeline};
	struct names objects = {0};
	int err = walk_timeline(timeline, &ops, &profile);

	if (!err && !profile.err)
		put_profile(&profile, &objects);
	if (!err && !profile.err)
		output_write(output, profile.out.bytes, profile.out.size);
	free(profile.functions);
	free(profile.stacks);
	hash_index_release(&profile.function_index);
	hash_index_release(&profile.stack_index);
	names_release(&profile.strings);
	names_release(&objects);
	proto_release(&profile.out);
	proto_release(&profile.message);
	proto_release(&profile.inner);
	return err ? err : profile.err;
}

const struct sink sink_pprof = {
	.name = "pprof",
	.suffix = ".pb",
	.how_to_open = "open it with go tool pprof -http :",
	.write = write_pprof,
};
