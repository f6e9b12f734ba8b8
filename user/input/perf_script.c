/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each address has the function that the text names. An index keeps them, so the engine can look up an
 * address as in an image. The extent of a function is unknown (symbol.end == start).
 */
#include "input/perf_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/hash_index.h"
#include "base/error.h"
#include "base/file/plain_file.h"
#include "base/log.h"
#include "input/perf_script_line.h"

enum { ODD_LINES_MAX = 10 };

struct perf_script_symbols {
	struct symbol **items;
	size_t item_cnt, item_cap;
	struct hash_index by_start; /* of items, by their names, too: equal hashes stand for equal symbols */
	const struct symbol **at;   /* of each address */
	size_t at_cnt, at_cap;
	struct hash_index by_ip; /* of `at` */
};

static const struct symbol nowhere = {.name = "[unknown]", .object = "[unknown]"};

/* ---- symbols ---- */

/* The first item with this hash; HASH_INDEX_END: none. */
static size_t find(const struct hash_index *index, uint64_t hash)
{
	size_t at = 0;

	return hash_index_next(index, hash, &at);
}

static uint64_t text_hash(struct script_text text, uint64_t hash)
{
	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.at[i]) * 0x100000001b3;
	return hash;
}

static void symbol_free(struct symbol *symbol)
{
	free((char *)symbol->name);
	free((char *)symbol->object);
	free(symbol);
}

static struct symbol *symbol_new(const struct script_place *place, uint64_t start)
{
	struct symbol *symbol = calloc(1, sizeof(*symbol));
	char *name = NULL;

	if (!symbol)
		return NULL;
	if (place->named)
		name = strndup(place->name.at, place->name.len);
	else if (asprintf(&name, "[unknown @ 0x%llx (%.*s)]", (unsigned long long)place->ip,
			  (int)place->object.len, place->object.len ? place->object.at : "") < 0)
		name = NULL;
	symbol->name = name;
	symbol->object = strndup(place->object.len ? place->object.at : "", place->object.len);
	if (!symbol->name || !symbol->object) {
		symbol_free(symbol);
		return NULL;
	}
	symbol->start = symbol->end = start;
	symbol->named = place->named;
	symbol->role = (uint8_t)symbol_role(symbol->name);
	symbol->is_part = symbol_is_part(symbol->name);
	return symbol;
}

/* The symbol of that name which begins there; made if it is new. */
static struct symbol *symbol_get(struct perf_script_symbols *symbols, const struct script_place *place)
{
	uint64_t start = place->named ? place->ip - place->offset : place->ip;
	uint64_t key = text_hash(place->object, text_hash(place->name, start * 0x100000001b3));
	size_t known = find(&symbols->by_start, key);
	struct symbol *symbol;

	if (known != HASH_INDEX_END)
		return symbols->items[known];
	if (place->named && !place->has_offset)
		start = 0;
	symbol = symbol_new(place, start);
	if (!symbol || ARRAY_PUSH(symbols->items, symbols->item_cnt, symbols->item_cap, symbol)) {
		if (symbol)
			symbol_free(symbol);
		return NULL;
	}
	return hash_index_add(&symbols->by_start, key, symbols->item_cnt - 1) ? NULL : symbol;
}

static int learn(struct perf_script *script, const struct script_place *place)
{
	struct perf_script_symbols *symbols = script->symbols;
	uint64_t hash = hash_number(0, place->ip);
	size_t known = find(&symbols->by_ip, hash);
	const struct symbol *symbol;

	if (!place->ip || (!place->named && !place->object.len))
		return 0;
	if (known != HASH_INDEX_END && (symbols->at[known]->named || !place->named))
		return 0;
	symbol = symbol_get(symbols, place);
	if (!symbol)
		return -ENOMEM;
	if (known != HASH_INDEX_END) {
		symbols->at[known] = symbol;
		return 0;
	}
	if (ARRAY_PUSH(symbols->at, symbols->at_cnt, symbols->at_cap, symbol))
		return -ENOMEM;
	return hash_index_add(&symbols->by_ip, hash, symbols->at_cnt - 1);
}

const struct symbol *perf_script_symbol_at(const struct perf_script *script, uint64_t ip)
{
	const struct perf_script_symbols *symbols = script->symbols;
	size_t known = find(&symbols->by_ip, hash_number(0, ip));

	return known == HASH_INDEX_END ? &nowhere : symbols->at[known];
}

/* ---- events ---- */

static int thread_get(struct perf_script *script, const struct script_line *line,
		      struct perf_script_thread **ret_thread)
{
	struct perf_script_thread fresh = {.pid = line->pid, .tid = line->tid};
	int err;

	for (size_t i = script->thread_cnt; i-- > 0;) {
		*ret_thread = &script->threads[i];
		if ((*ret_thread)->tid == line->tid && (*ret_thread)->pid == line->pid)
			return 0;
	}
	err = ARRAY_PUSH(script->threads, script->thread_cnt, script->thread_cap, fresh);
	*ret_thread = err ? NULL : &script->threads[script->thread_cnt - 1];
	return err;
}

static int add_branch(struct perf_script *script, struct perf_script_thread *thread,
		      const struct script_line *line)
{
	int err = line->branch.from ? learn(script, &line->from) : 0;

	if (!err && line->branch.to)
		err = learn(script, &line->to);
	return err ? err
		   : ARRAY_PUSH(thread->branches.items, thread->branches.cnt, thread->branches.cap,
				line->branch);
}

static int add_error(struct perf_script *script, struct perf_script_thread *thread,
		     const struct script_line *line)
{
	const struct branch_list *list = &thread->branches;
	struct branch gap = {.kind = BRANCH_GAP,
			     .gap = strstr(line->message.at, "verflow") ? GAP_OVERFLOW : GAP_BAD_TRACE,
			     .detail = (int32_t)script->message_cnt,
			     .tsc = line->time_ns};

	if (!line->has_time)
		gap.tsc = list->cnt ? list->items[list->cnt - 1].tsc : 0;
	if (ARRAY_TAKE(script->messages, script->message_cnt, script->message_cap,
		       strndup(line->message.at, line->message.len)))
		return -ENOMEM;
	return ARRAY_PUSH(thread->branches.items, thread->branches.cnt, thread->branches.cap, gap);
}

static int name_get(struct perf_script *script, struct script_text text, size_t *ret_name)
{
	for (*ret_name = 0; *ret_name < script->name_cnt; ++*ret_name)
		if (strlen(script->names[*ret_name]) == text.len &&
		    !memcmp(script->names[*ret_name], text.at, text.len))
			return 0;
	return ARRAY_TAKE(script->names, script->name_cnt, script->name_cap, strndup(text.at, text.len));
}

static int add_count(struct perf_script *script, const struct script_line *line, struct script_text event,
		     uint64_t value)
{
	struct perf_script_count count = {
		.pid = line->pid, .tid = line->tid, .time_ns = line->time_ns, .period = value};
	int err = name_get(script, event, &count.name);

	return err ? err : ARRAY_PUSH(script->counts, script->count_cnt, script->count_cap, count);
}

/* "cbr: 47 freq: 4706 MHz (162%)" */
static int add_frequency(struct perf_script *script, const struct script_line *line)
{
	const char *mhz = strstr(line->message.at, "freq:");
	const struct script_text name = {"CPU frequency (MHz)", 19};

	return mhz ? add_count(script, line, name, strtoull(mhz + 5, NULL, 10)) : 0;
}

static bool is_one_of(struct script_text event, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == event.len && !memcmp(*names, event.at, event.len))
			return true;
	return false;
}

/* A sample whose stack follows begins. perf prints those of a thread in the order of time. */
static int begin_sample(struct perf_script *script, struct script_line *line)
{
	static const char *const clocks[] = {"cpu-clock", "task-clock", NULL};
	struct known_stack sample = {.period = is_one_of(line->event, clocks) ? line->period : 0};
	struct perf_script_thread *thread;
	int err = thread_get(script, line, &thread);

	if (err)
		return err;
	if (thread->sample_cnt && line->time_ns < thread->samples[thread->sample_cnt - 1].tsc)
		line->time_ns = thread->samples[thread->sample_cnt - 1].tsc;
	sample.tsc = line->time_ns;
	return ARRAY_PUSH(thread->samples, thread->sample_cnt, thread->sample_cap, sample);
}

static int add_event(struct perf_script *script, struct script_line *line)
{
	static const char *const sampled[] = {"cycles",	    "cpu-cycles",   "cpu-clock",
					      "task-clock", "instructions", NULL};
	static const char *const of_no_interest[] = {"psb",    "evt",  "iflag", "mwait", "pwre",
						     "exstop", "pwrx", "dummy", NULL};
	const struct script_text cbr = line->event;

	if (cbr.len == 3 && !memcmp(cbr.at, "cbr", 3))
		return add_frequency(script, line);
	if (is_one_of(line->event, of_no_interest))
		return 0;
	if (is_one_of(line->event, sampled) && !line->has_place)
		return begin_sample(script, line);
	return add_count(script, line, line->event, line->period);
}

/* One more frame, further out, of the sample that the last header began. */
static int add_frame(struct perf_script *script, const struct script_line *header,
		     const struct script_line *line)
{
	struct perf_script_thread *thread;
	struct known_stack *sample;
	uint64_t *ips;
	int err = learn(script, &line->from);

	if (err || thread_get(script, header, &thread) || !thread->sample_cnt)
		return err;
	sample = &thread->samples[thread->sample_cnt - 1];
	if (sample->tsc != header->time_ns)
		return 0; /* the stack of a counted event */
	ips = reallocarray((uint64_t *)sample->ips, sample->cnt + 1, sizeof(*ips));
	if (!ips)
		return -ENOMEM;
	ips[sample->cnt++] = line->from.ip;
	sample->ips = ips;
	return 0;
}

/* Nothing is known of a thread before its first event: what is inferred begins there. */
static int begin_thread(struct perf_script_thread *thread, uint64_t time_ns)
{
	struct branch first = {.kind = BRANCH_NONE, .tsc = time_ns};

	return thread->branches.cnt ? 0
				    : ARRAY_PUSH(thread->branches.items, thread->branches.cnt,
						 thread->branches.cap, first);
}

static int add_line(struct perf_script *script, struct script_line *header, const struct script_line *line)
{
	struct perf_script_thread *thread;
	int err;

	if (line->type == SCRIPT_NOTHING)
		return 0;
	if (line->type == SCRIPT_FRAME)
		return header->type == SCRIPT_HEADER ? add_frame(script, header, line) : 0;
	*header = *line;
	if (line->has_time && line->time_ns < script->first_ns)
		script->first_ns = line->time_ns;
	err = thread_get(script, line, &thread);
	if (!err && line->has_time)
		err = begin_thread(thread, line->time_ns);
	if (err)
		return err;
	if (line->type == SCRIPT_ERROR)
		return add_error(script, thread, line);
	return line->is_branch ? add_branch(script, thread, line) : add_event(script, header);
}

/* ---- the file ---- */

bool perf_script_is(const char *path)
{
	CLEANUP(fclosep) FILE *file = plain_file_stream(path);
	CLEANUP(freep) char *text = NULL;
	struct script_line line = {0};
	size_t cap = 0;
	ssize_t len;

	while (file && (len = getline(&text, &cap, file)) > 0 && memchr(text, '\0', (size_t)len) == NULL) {
		text[strcspn(text, "\r\n")] = '\0';
		if (!script_line_parse(&line, text))
			return false;
		if (line.type != SCRIPT_NOTHING)
			return true;
	}
	return false;
}

/* What a line says that is not understood is missing: a gap, where it says at least of which thread. */
static void make_gap(struct script_line *line)
{
	static const char message[] = "a line of perf script is not understood";

	line->is_branch = false;
	line->type = line->has_time ? SCRIPT_ERROR : SCRIPT_NOTHING;
	line->message = (struct script_text){message, sizeof(message) - 1};
}

static int read_lines(struct perf_script *script, FILE *file, const char *path)
{
	CLEANUP(freep) char *text = NULL;
	struct script_line header = {0}, line;
	size_t cap = 0, number = 0, odd = 0;
	int err = 0;

	while (!err && getline(&text, &cap, file) >= 0) {
		number++;
		text[strcspn(text, "\r\n")] = '\0';
		if (!script_line_parse(&line, text)) {
			log_warn("%s: cannot read line %zu: %.80s", path, number, text);
			if (++odd > ODD_LINES_MAX)
				return fail(
					-EBADMSG,
					"%s: too many lines are not what perf script -F "
					"pid,tid,time,flags,ip,addr,sym,symoff,synth,dso,event,period writes",
					path);
			make_gap(&line);
		}
		err = add_line(script, &header, &line);
		/* The texts that it points to are gone with the line. */
		header.event = header.message = (struct script_text){0};
	}
	if (err)
		return fail(err, "no memory for %s", path);
	return ferror(file) ? fail_errno(-errno, "cannot read %s", path) : 0;
}

int perf_script_load(struct perf_script **ret_script, const char *path)
{
	CLEANUP(perf_script_freep) struct perf_script *script = calloc(1, sizeof(*script));
	CLEANUP(fclosep) FILE *file = plain_file_stream(path);
	int err;

	if (!file)
		return fail_errno(-errno, "cannot open %s", path);
	if (script)
		script->symbols = calloc(1, sizeof(*script->symbols));
	if (!script || !script->symbols)
		return fail(-ENOMEM, "no memory for %s", path);
	script->first_ns = UINT64_MAX;
	err = read_lines(script, file, path);
	if (err)
		return err;
	if (script->first_ns == UINT64_MAX)
		return fail(-EBADMSG, "%s: it has no events", path);
	*ret_script = TAKE_PTR(script);
	return 0;
}

static void texts_free(char **texts, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		free(texts[i]);
	free(texts);
}

void perf_script_free(struct perf_script *script)
{
	if (!script)
		return;
	for (size_t i = 0; i < script->thread_cnt; i++) {
		struct perf_script_thread *thread = &script->threads[i];

		for (size_t j = 0; j < thread->sample_cnt; j++)
			free((uint64_t *)thread->samples[j].ips);
		free(thread->samples);
		branch_list_release(&thread->branches);
	}
	for (size_t i = 0; script->symbols && i < script->symbols->item_cnt; i++)
		symbol_free(script->symbols->items[i]);
	if (script->symbols) {
		free(script->symbols->items);
		free(script->symbols->at);
		hash_index_release(&script->symbols->by_start);
		hash_index_release(&script->symbols->by_ip);
	}
	free(script->symbols);
	free(script->threads);
	free(script->counts);
	texts_free(script->names, script->name_cnt);
	texts_free(script->messages, script->message_cnt);
	free(script);
}
