/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks that there were of a page at one time agree where they overlap: the runtime ends those that do
 * not. So what a page had is put together from them. A new version of it begins only where a block ended and
 * one that came later has something else there:
 *
 *	epochs	|-- block 1 --------------------|
 *		     |-- block 2 --|-- block 3 --------
 *	page	1 and 2 ...........1 and 3 ............
 */
#include "source/translate/made_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sort.h"

enum { PAGE = 4096, VERSIONS_MAX = 256 };

/* A block that has code in a page. */
struct piece {
	struct sort_key key; /* page, number of the block */
	uint64_t page, ended;
	const struct block *block;
	const uint8_t *code;
};

struct pieces {
	struct piece *items;
	size_t cnt, cap;
};

static void pieces_release(struct pieces *pieces)
{
	free(pieces->items);
}

/* What is known of a page. */
struct version {
	uint64_t from_tsc; /* 0: from the beginning */
	uint8_t known[PAGE], bytes[PAGE];
};

struct page_copies {
	pid_t pid;
	uint64_t addr;
	const char *name;
	const struct tsc_clock *clock;
	struct snapshot *snapshot;
	size_t first; /* of the page's copies */
};

static int add_piece(struct pieces *pieces, const struct arena *arena, uint32_t number, uint64_t page)
{
	const struct block *block = arena_block(arena, number);
	const uint64_t *ended = arena_ended_at(arena, block);
	const struct piece piece = {.key = {page, number},
				    .page = page,
				    .ended = ended ? *ended : 0,
				    .block = block,
				    .code = (const uint8_t *)(ended + 1)};

	return ended ? ARRAY_PUSH(pieces->items, pieces->cnt, pieces->cap, piece) : 0;
}

static int collect(struct pieces *pieces, const struct arena *arena)
{
	uint32_t cnt = arena_shared(arena)->block_cnt;
	int err = 0;

	for (uint32_t i = arena_first_block(arena); i < cnt && !err; i++) {
		const struct block *block = arena_block(arena, i);
		uint64_t first = block->guest / PAGE * PAGE, last = (block->guest_end - 1) / PAGE * PAGE;

		if (!block->is_kept)
			continue;
		err = add_piece(pieces, arena, i, first);
		if (!err && last != first)
			err = add_piece(pieces, arena, i, last);
	}
	sort_array(pieces->items, pieces->cnt, sizeof(*pieces->items), sort_by_key);
	return err;
}

static void copy_release(struct code_copy *copy)
{
	free(copy->name);
	free(copy->bytes);
}

/* Of too many, the oldest are dropped: what ran there becomes a gap. */
static int add_copy(const struct page_copies *copies, const struct version *version)
{
	struct snapshot *snapshot = copies->snapshot;
	struct code_copy *copy;

	if (snapshot->copy_cnt - copies->first == VERSIONS_MAX) {
		copy = &snapshot->copies[copies->first];
		copy_release(copy);
		memmove(copy, copy + 1, (VERSIONS_MAX - 1) * sizeof(*copy));
		snapshot->copy_cnt--;
	}
	copy = snapshot_add_copy(snapshot);
	if (!copy)
		return -ENOMEM;
	*copy = (struct code_copy){
		.pid = copies->pid,
		.addr = copies->addr,
		.size = PAGE,
		.from_ns = version->from_tsc ? tsc_clock_ns(copies->clock, version->from_tsc) : 0,
		.name = strdup(copies->name),
		.bytes = malloc(PAGE),
		.has_run = true};
	if (!copy->name || !copy->bytes)
		return -ENOMEM;
	memcpy(copy->bytes, version->bytes, PAGE);
	return 0;
}

/* Puts the block's code into the version. False: something else is known there. */
static bool put(struct version *version, const struct piece *piece)
{
	const struct block *block = piece->block;

	for (uint64_t at = block->guest; at < block->guest_end; at++) {
		uint64_t off = at - piece->page;
		uint8_t byte = piece->code[at - block->guest];

		if (off >= PAGE)
			continue;
		if (version->known[off] && version->bytes[off] != byte)
			return false;
		version->known[off] = 1;
		version->bytes[off] = byte;
	}
	return true;
}

/* A piece ended. */
struct end {
	struct sort_key key; /* epoch, when that was */
};

/* A page from epoch to epoch. */
struct course {
	const struct piece *pieces; /* in the order in which they began */
	size_t cnt, begun_cnt;
	const struct piece **live; /* of those that have begun, and some that are over */
	size_t live_cnt;
	struct end *ends; /* in order of time */
	size_t end_cnt;
};

static void course_release(struct course *course)
{
	free(course->live);
	free(course->ends);
}

static int course_init(struct course *course, const struct piece *pieces, size_t cnt)
{
	*course = (struct course){.pieces = pieces, .cnt = cnt};
	course->live = calloc(cnt, sizeof(*course->live));
	course->ends = calloc(cnt, sizeof(*course->ends));
	if (!course->live || !course->ends)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		if (pieces[i].block->died)
			course->ends[course->end_cnt++] =
				(struct end){{pieces[i].block->died, pieces[i].ended}};
	sort_array(course->ends, course->end_cnt, sizeof(*course->ends), sort_by_key);
	return 0;
}

/* Puts those that begin before the epoch into the version. False: one does not agree with it. */
static bool put_new(struct version *version, struct course *course, uint32_t to)
{
	bool fits = true;

	while (course->begun_cnt < course->cnt && course->pieces[course->begun_cnt].block->born < to) {
		const struct piece *piece = &course->pieces[course->begun_cnt++];

		course->live[course->live_cnt++] = piece;
		fits = fits && put(version, piece);
	}
	return fits;
}

/* Puts all that are not over in the epoch. */
static void put_live(struct version *version, struct course *course, uint32_t from)
{
	size_t kept = 0;

	for (size_t i = 0; i < course->live_cnt; i++)
		if (!course->live[i]->block->died || course->live[i]->block->died > from)
			course->live[kept++] = course->live[i];
	course->live_cnt = kept;
	for (size_t i = 0; i < kept && put(version, course->live[i]); i++)
		;
}

static int add_page(const struct page_copies *copies, const struct piece *pieces, size_t cnt)
{
	CLEANUP(course_release) struct course course;
	struct version version = {0}, longer;
	uint32_t from = 0, to = 0;
	uint64_t tsc = 0;
	int err = course_init(&course, pieces, cnt);

	for (size_t i = 0; i <= course.end_cnt && !err; i++) {
		/* Of those that end with the same epoch, the first one. */
		if (i < course.end_cnt && course.ends[i].key.value == from)
			continue;
		to = i < course.end_cnt ? (uint32_t)course.ends[i].key.value : UINT32_MAX;
		longer = version;
		if (put_new(&longer, &course, to)) {
			version = longer;
		} else {
			err = add_copy(copies, &version);
			version = (struct version){.from_tsc = tsc};
			put_live(&version, &course, from);
		}
		from = to;
		tsc = i < course.end_cnt ? course.ends[i].key.nth : 0;
	}
	return err ? err : add_copy(copies, &version);
}

int made_code_add(const struct arena *arena, pid_t pid, const struct maps *maps,
		  const struct tsc_clock *clock, struct snapshot *snapshot)
{
	CLEANUP(pieces_release) struct pieces pieces = {0};
	int err = collect(&pieces, arena);

	for (size_t i = 0, cnt; i < pieces.cnt && !err; i += cnt) {
		const struct map *map = maps_find(maps, pieces.items[i].page);
		const struct page_copies copies = {.pid = pid,
						   .addr = pieces.items[i].page,
						   .name = map ? map->mapping.name : "//anon",
						   .clock = clock,
						   .snapshot = snapshot,
						   .first = snapshot->copy_cnt};

		for (cnt = 1; i + cnt < pieces.cnt && pieces.items[i + cnt].page == pieces.items[i].page;
		     cnt++)
			;
		err = add_page(&copies, &pieces.items[i], cnt);
	}
	return err;
}
