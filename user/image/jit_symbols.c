/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A JIT compiler uses addresses again. Of several functions that cover one, the newest is meant: neither file tells when the trace was at which.
 */
#include "image/jit_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

enum {
	JITDUMP_MAGIC = 0x4a695444, /* "JiTD" */
	JIT_CODE_LOAD = 0,
	JIT_CODE_MOVE = 1,
	SEARCH_BACK = 64, /* functions that begin before an address and are looked at whether they reach it */
};

void jit_symbols_release(struct jit_symbols *symbols)
{
	for (size_t i = 0; i < symbols->cnt; i++)
		free((char *)symbols->items[i].name);
	free(symbols->items);
	free(symbols->by_start);
	*symbols = (struct jit_symbols){0};
}

static int add(struct jit_symbols *symbols, uint64_t start, uint64_t size, const char *name, size_t len)
{
	struct symbol symbol = {.object = "[jit]", .start = start, .end = start + size, .named = true};

	if (!size || !len || symbol.end < start)
		return 0;
	symbol.name = strndup(name, len);
	if (!symbol.name || ARRAY_PUSH(symbols->items, symbols->cnt, symbols->cap, symbol)) {
		free((char *)symbol.name);
		return -ENOMEM;
	}
	return 0;
}

/* ---- perf-PID.map ---- */

int jit_symbols_read_map(struct jit_symbols *symbols, const char *path)
{
	CLEANUP(fclosep) FILE *file = fopen(path, "re");
	CLEANUP(freep) char *line = NULL;
	size_t cap = 0;
	int err = 0;

	if (!file)
		return -errno;
	while (!err && getline(&line, &cap, file) > 0) {
		char *at = line;
		uint64_t start = strtoull(at, &at, 16);
		uint64_t size = *at == ' ' ? strtoull(at, &at, 16) : 0;

		if (*at == ' ')
			err = add(symbols, start, size, at + 1, strcspn(at + 1, "\r\n"));
	}
	return err;
}

/* ---- jitdump ---- */

struct dump_header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};

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

static int read_load(struct jit_symbols *symbols, const uint8_t *bytes, size_t size)
{
	struct code_load load;

	if (size < sizeof(load))
		return 0;
	memcpy(&load, bytes, sizeof(load));
	return add(symbols, load.code_addr, load.code_size, (const char *)bytes + sizeof(load),
		   strnlen((const char *)bytes + sizeof(load), size - sizeof(load)));
}

static int read_move(struct jit_symbols *symbols, const uint8_t *bytes, size_t size)
{
	struct code_move move;

	if (size < sizeof(move))
		return 0;
	memcpy(&move, bytes, sizeof(move));
	for (size_t i = symbols->cnt; i-- > 0;)
		if (symbols->items[i].start == move.old_code_addr)
			return add(symbols, move.new_code_addr, move.code_size, symbols->items[i].name,
				   strlen(symbols->items[i].name));
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
		memcpy(&record, bytes + at, sizeof(record));
		if (record.total_size < sizeof(record) || record.total_size > size - at)
			break;
		if (record.id == JIT_CODE_LOAD)
			err = read_load(symbols, bytes + at + sizeof(record),
					record.total_size - sizeof(record));
		else if (record.id == JIT_CODE_MOVE)
			err = read_move(symbols, bytes + at + sizeof(record),
					record.total_size - sizeof(record));
	}
	return err;
}

int jit_symbols_read_dump(struct jit_symbols *symbols, const char *path)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
	const struct symbol *items = ctx;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (items[a].start != items[b].start)
		return items[a].start < items[b].start ? -1 : 1;
	return a < b ? -1 : 1;
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

const struct symbol *jit_symbols_find(const struct jit_symbols *symbols, uint64_t ip)
{
	size_t low = 0, high = symbols->by_start ? symbols->cnt : 0;
	const struct symbol *found = NULL;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (symbols->items[symbols->by_start[mid]].start <= ip)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low; i > 0 && low - i < SEARCH_BACK; i--) {
		const struct symbol *symbol = &symbols->items[symbols->by_start[i - 1]];

		if (ip < symbol->end && symbol > found)
			found = symbol;
	}
	return found;
}
