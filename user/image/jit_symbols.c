/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A JIT compiler reuses addresses. Of several functions at one address the newest counts; a jitdump also has
 * their times.
 */
#include "image/jit_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/file/plain_file.h"
#include "base/sort.h"

enum {
	JITDUMP_MAGIC = 0x4a695444, /* "JiTD" */
	JIT_CODE_LOAD = 0,
	JIT_CODE_MOVE = 1,
	MODULE_GAP = 1 << 20, /* no function is that long */
	SEARCH_BACK = 64, /* functions that begin before an address and are looked at whether they reach it */
};

void jit_symbols_release(struct jit_symbols *symbols)
{
	for (size_t i = 0; i < symbols->cnt; i++)
		free((char *)symbols->items[i].symbol.name);
	free(symbols->items);
	free(symbols->by_start);
	*symbols = (struct jit_symbols){0};
}

/* What of `function` is said, and a name. */
static int add(struct jit_symbols *symbols, struct jit_function function, const char *name, size_t len)
{
	struct symbol *symbol = &function.symbol;

	if (!len || symbol->end <= symbol->start)
		return 0;
	if (!symbol->object)
		symbol->object = "[jit]";
	symbol->named = true;
	symbol->name = strndup(name, len);
	if (symbol->name)
		symbol->role = (uint8_t)symbol_role(symbol->name);
	if (!symbol->name || ARRAY_PUSH(symbols->items, symbols->cnt, symbols->cap, function)) {
		free((char *)symbol->name);
		return -ENOMEM;
	}
	return 0;
}

static int each_line(struct jit_symbols *symbols, const char *path,
		     int (*fn)(struct jit_symbols *symbols, const char *line))
{
	CLEANUP(fclosep) FILE *file = plain_file_stream(path);
	CLEANUP(freep) char *line = NULL;
	size_t cap = 0;
	int err = 0;

	if (!file)
		return -errno;
	while (!err && getline(&line, &cap, file) > 0)
		err = fn(symbols, line);
	return err;
}

/* ---- perf-PID.map ---- */

static int add_map_line(struct jit_symbols *symbols, const char *line)
{
	struct jit_function function = {0};
	char *at;
	uint64_t size;

	function.symbol.start = strtoull(line, &at, 16);
	size = *at == ' ' ? strtoull(at, &at, 16) : 0;
	function.symbol.end = function.symbol.start + size;
	return *at == ' ' ? add(symbols, function, at + 1, strcspn(at + 1, "\r\n")) : 0;
}

int jit_symbols_read_map(struct jit_symbols *symbols, const char *path)
{
	return each_line(symbols, path, add_map_line);
}

/* ---- a JVM's code ---- */

static int add_jvm_line(struct jit_symbols *symbols, const char *line)
{
	struct jit_function function = {0};
	int at = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx32 " %" SCNx32 " %n", &function.symbol.start,
		   &function.symbol.end, &function.frame.bytes, &function.frame.complete, &at) != 4)
		return 0;
	function.symbol.end += function.symbol.start;
	line += at;
	function.frame.is_interpreter = function.symbol.is_region = !strncmp(line, "Interpreter", 11);
	return add(symbols, function, line, strcspn(line, "\r\n"));
}

int jit_symbols_read_jvm(struct jit_symbols *symbols, const char *path)
{
	return each_line(symbols, path, add_jvm_line);
}

/* ---- kallsyms ---- */

/* Of several names for one address the last is shown: one without underscores in front. */
static int compare_starts(const void *left, const void *right)
{
	const struct symbol *a = &((const struct jit_function *)left)->symbol;
	const struct symbol *b = &((const struct jit_function *)right)->symbol;
	size_t a_low = strspn(a->name, "_"), b_low = strspn(b->name, "_");

	return ORDER_UP(a->start, b->start) ?: ORDER_DOWN(a_low, b_low) ?: strcmp(a->name, b->name);
}

/* The last function of a module is taken to end with its page. */
static void set_ends(struct jit_symbols *symbols)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = symbols->cnt; i-- > 0;) {
		struct symbol *symbol = &symbols->items[i].symbol;
		uint64_t page_end = (symbol->start | 0xfff) + 1;

		if (i + 1 < symbols->cnt && symbols->items[i + 1].symbol.start != symbol->start)
			next = symbols->items[i + 1].symbol.start;
		symbol->end = next - symbol->start < MODULE_GAP ? next : page_end;
	}
}

static int add_kernel_line(struct jit_symbols *symbols, const char *line)
{
	struct jit_function function = {.symbol = {.object = "[kernel]"}};
	char *at;

	function.symbol.start = strtoull(line, &at, 16);
	function.symbol.end = function.symbol.start + 1;
	if (at[0] != ' ' || !at[1] || !strchr("tTwW", at[1]) || at[2] != ' ' || !function.symbol.end)
		return 0;
	return add(symbols, function, at + 3, strcspn(at + 3, "\t\r\n"));
}

int jit_symbols_read_kernel(struct jit_symbols *symbols, const char *path)
{
	int err = each_line(symbols, path, add_kernel_line);

	sort_array(symbols->items, symbols->cnt, sizeof(*symbols->items), compare_starts);
	set_ends(symbols);
	return err;
}

/* ---- jitdump ---- */

struct dump_header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};

enum { FLAG_ARCH_TIMESTAMP = 1 }; /* its times are the processor's, not CLOCK_MONOTONIC */

struct dump_record {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct code_load {
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};

struct code_move {
	uint32_t pid, tid;
	uint64_t vma, old_code_addr, new_code_addr, code_size, code_index;
};

/* A record of a file of which `bytes` are all. */
struct place_in_dump {
	const uint8_t *bytes;
	size_t at, size; /* of what follows the record's head */
	uint64_t since;
};

/* The name, with a zero behind it, and the code, which ends the record. */
static int read_load(struct jit_symbols *symbols, const struct place_in_dump *record)
{
	const uint8_t *rest = record->bytes + record->at + sizeof(struct code_load);
	struct jit_function function = {.since = record->since};
	size_t left, len;
	struct code_load load;

	if (record->size < sizeof(load))
		return 0;
	memcpy(&load, record->bytes + record->at, sizeof(load));
	left = record->size - sizeof(load);
	len = strnlen((const char *)rest, left);
	function.symbol.start = load.code_addr;
	function.symbol.end = load.code_addr + load.code_size;
	if (load.code_size < left - len)
		function.code_offset = record->at + record->size - load.code_size;
	return add(symbols, function, (const char *)rest, len);
}

static int read_move(struct jit_symbols *symbols, const struct place_in_dump *record)
{
	struct code_move move;

	if (record->size < sizeof(move))
		return 0;
	memcpy(&move, record->bytes + record->at, sizeof(move));
	for (size_t i = symbols->cnt; i-- > 0;) {
		struct jit_function function = symbols->items[i];
		const struct symbol *old = &function.symbol;

		if (old->start != move.old_code_addr)
			continue;
		if (move.code_size > old->end - old->start)
			function.code_offset = 0;
		function.symbol.start = move.new_code_addr;
		function.symbol.end = move.new_code_addr + move.code_size;
		function.since = record->since;
		return add(symbols, function, old->name, strlen(old->name));
	}
	return 0;
}

static int read_records(struct jit_symbols *symbols, const uint8_t *bytes, size_t size)
{
	struct dump_header header;
	struct dump_record record;
	int err = 0;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != JITDUMP_MAGIC)
		return 0;
	for (size_t at = header.total_size; !err && at <= size && size - at >= sizeof(record);
	     at += record.total_size) {
		struct place_in_dump place = {.bytes = bytes, .at = at + sizeof(record)};

		memcpy(&record, bytes + at, sizeof(record));
		if (record.total_size < sizeof(record) || record.total_size > size - at)
			break;
		place.size = record.total_size - sizeof(record);
		place.since = header.flags & FLAG_ARCH_TIMESTAMP ? 0 : record.timestamp;
		if (record.id == JIT_CODE_LOAD)
			err = read_load(symbols, &place);
		else if (record.id == JIT_CODE_MOVE)
			err = read_move(symbols, &place);
	}
	return err;
}

int jit_symbols_read_dump(struct jit_symbols *symbols, const char *path)
{
	CLEANUP(closep) int fd = plain_file_open(path);
	struct stat st;
	void *bytes;
	int err;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return 0;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	err = read_records(symbols, bytes, (size_t)st.st_size);
	munmap(bytes, (size_t)st.st_size);
	return err;
}

/* ---- looking up ---- */

static int compare(const void *left, const void *right, void *ctx)
{
	const struct jit_function *items = ctx;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return ORDER_UP(items[a].symbol.start, items[b].symbol.start) ?: ORDER_UP(a, b);
}

int jit_symbols_sort(struct jit_symbols *symbols)
{
	if (!symbols->cnt)
		return 0;
	symbols->by_start = calloc(symbols->cnt, sizeof(*symbols->by_start));
	if (!symbols->by_start)
		return -ENOMEM;
	for (uint32_t i = 0; i < symbols->cnt; i++)
		symbols->by_start[i] = i;
	qsort_r(symbols->by_start, symbols->cnt, sizeof(*symbols->by_start), compare, symbols->items);
	return 0;
}

const struct jit_function *jit_symbols_find(const struct jit_symbols *symbols, uint64_t ip, uint64_t until)
{
	size_t low = BISECT(symbols->by_start ? symbols->cnt : 0, nth,
			    symbols->items[symbols->by_start[nth]].symbol.start <= ip);
	const struct jit_function *found = NULL;

	for (size_t i = low; i > 0 && low - i < SEARCH_BACK; i--) {
		const struct jit_function *function = &symbols->items[symbols->by_start[i - 1]];

		if (ip < function->symbol.end && function->since < until && function > found)
			found = function;
	}
	return found;
}
