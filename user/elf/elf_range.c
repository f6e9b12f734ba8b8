/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols overlap: a function may have another entry inside, and a table may be damaged. One sweep over the
 * addresses with the set of open symbols divides them; an address belongs to the symbol that began last.
 *
 *	outer	|--------------------------|			outer   inner   outer   (gap)  next
 *	inner	        |-------|			->	|------|-------|-------|......|----|
 *	next	                              |----|
 *
 * A label (no type, no size) inside a function does not count. A symbol without a size extends to the next
 * one or to the end of its section. Gaps after sized symbols are filled from the segment and the unwinding
 * tables.
 */
#include "elf/elf_range.h"

#include <errno.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "elf/elf_internal.h"

struct span {
	uint64_t start, end; /* start first: sorted by it */
};

struct span_list {
	struct span *items;
	size_t cnt, cap;
};

static void spans_sort(struct span_list *list)
{
	sort_array(list->items, list->cnt, sizeof(*list->items), sort_by_number);
}

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Executable sections, sorted: where symbols without a size end. */
static int code_sections(const struct elf_file *file, struct span_list *ret_list)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;
		struct span span;

		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		span = (struct span){header.sh_addr, saturating_add(header.sh_addr, header.sh_size)};
		if (ARRAY_PUSH(ret_list->items, ret_list->cnt, ret_list->cap, span))
			return -ENOMEM;
	}
	spans_sort(ret_list);
	return 0;
}

/* Executable segments in whole pages, sorted, without overlap. */
static int code_segments(const struct elf_file *file, struct span_list *ret_list)
{
	uint64_t covered = 0;

	for (size_t i = 0; i < file->load_cnt; i++) {
		const GElf_Phdr *load = &file->loads[i];
		struct span span = {load->p_vaddr & ~0xfffull,
				    saturating_add(saturating_add(load->p_vaddr, load->p_memsz), 0xfff) &
					    ~0xfffull};

		if (load->p_flags & PF_X && ARRAY_PUSH(ret_list->items, ret_list->cnt, ret_list->cap, span))
			return -ENOMEM;
	}
	spans_sort(ret_list);
	for (size_t i = 0; i < ret_list->cnt; i++) {
		struct span *span = &ret_list->items[i];

		span->start = span->start < covered ? covered : span->start;
		span->end = span->end < span->start ? span->start : span->end;
		covered = span->end;
	}
	return 0;
}

/* The segments, divided where functions begin: what unnamed ranges are made of. */
static int unnamed_spans(const struct elf_file *file, struct span_list *ret_list)
{
	CLEANUP(freep) struct span *segments_items = NULL;
	CLEANUP(freep) uint64_t *starts = NULL;
	struct span_list segments = {0};
	size_t start_cnt, next = 0;
	int err = code_segments(file, &segments);

	segments_items = segments.items;
	if (!err)
		err = elf_frame_starts(file, &starts, &start_cnt);
	for (size_t i = 0; i < segments.cnt && !err; i++) {
		struct span rest = segments.items[i];

		for (; next < start_cnt && starts[next] < rest.end && !err; next++) {
			struct span piece = {rest.start, starts[next]};

			if (starts[next] <= rest.start)
				continue;
			err = ARRAY_PUSH(ret_list->items, ret_list->cnt, ret_list->cap, piece);
			rest.start = starts[next];
		}
		if (!err && rest.start < rest.end)
			err = ARRAY_PUSH(ret_list->items, ret_list->cnt, ret_list->cap, rest);
	}
	return err;
}

/* ---- the sweep ---- */

struct open_symbol {
	size_t index;
	uint64_t end;
	size_t first; /* its first range, SIZE_MAX until there is one */
};

struct sweep {
	struct elf_file *file;
	struct span_list sections, unnamed;
	size_t unnamed_at; /* spans before it lie below `filled` */
	uint64_t filled;   /* ranges are complete up to here */
	uint64_t at;
	struct open_symbol *open; /* innermost last */
	size_t open_cnt, open_cap;
};

static void sweep_release(struct sweep *sweep)
{
	free(sweep->sections.items);
	free(sweep->unnamed.items);
	free(sweep->open);
}

static int push_range(struct elf_file *file, struct elf_range range)
{
	return ARRAY_PUSH(file->ranges, file->range_cnt, file->range_cap, range);
}

static int fill_gap(struct sweep *sweep, uint64_t to)
{
	for (; sweep->unnamed_at < sweep->unnamed.cnt; sweep->unnamed_at++) {
		const struct span *span = &sweep->unnamed.items[sweep->unnamed_at];
		struct elf_range range = {.start = span->start < sweep->filled ? sweep->filled : span->start,
					  .end = span->end < to ? span->end : to,
					  .first = sweep->file->range_cnt};

		if (range.start < range.end && push_range(sweep->file, range))
			return -ENOMEM;
		if (span->end > to)
			break;
	}
	sweep->filled = to;
	return 0;
}

/* Gives [at, end) to the innermost open symbol. */
static int give(struct sweep *sweep, uint64_t end)
{
	struct open_symbol *top = &sweep->open[sweep->open_cnt - 1];
	struct elf_file *file = sweep->file;

	if (end <= sweep->at)
		return 0;
	if (fill_gap(sweep, sweep->at))
		return -ENOMEM;
	if (top->first == SIZE_MAX)
		top->first = file->range_cnt;
	sweep->filled = end;
	return push_range(file, (struct elf_range){.start = sweep->at,
						   .end = end,
						   .symbol = &file->symbols[top->index],
						   .first = top->first});
}

static int advance(struct sweep *sweep, uint64_t to)
{
	while (sweep->open_cnt && sweep->open[sweep->open_cnt - 1].end <= to) {
		uint64_t end = sweep->open[sweep->open_cnt - 1].end;

		if (give(sweep, end))
			return -ENOMEM;
		sweep->at = end > sweep->at ? end : sweep->at;
		sweep->open_cnt--;
	}
	if (sweep->open_cnt && give(sweep, to))
		return -ENOMEM;
	sweep->at = to;
	return 0;
}

/* End of a symbol without a size: the next symbol, or the end of its section or segment. */
static uint64_t find_end(const struct sweep *sweep, uint64_t addr, uint64_t next)
{
	const struct span_list *sections = &sweep->sections;
	const GElf_Phdr *segment = elf_code_segment(sweep->file, addr);
	uint64_t end = segment ? segment->p_vaddr + segment->p_memsz : addr;
	size_t low = BISECT(sections->cnt, i, sections->items[i].start <= addr);

	if (low && addr < sections->items[low - 1].end && sections->items[low - 1].end < end)
		end = sections->items[low - 1].end;
	return next < end ? next : end;
}

static int open_symbol(struct sweep *sweep, size_t index, uint64_t next)
{
	const struct elf_symbol *symbol = &sweep->file->symbols[index];
	struct open_symbol open = {.index = index, .first = SIZE_MAX};

	if (!symbol->size && symbol->type == STT_NOTYPE && sweep->open_cnt)
		return 0;
	open.end = symbol->size ? symbol->addr + symbol->size : find_end(sweep, symbol->addr, next);
	return ARRAY_PUSH(sweep->open, sweep->open_cnt, sweep->open_cap, open);
}

static int sweep_symbols(struct sweep *sweep)
{
	const struct elf_file *file = sweep->file;

	for (size_t i = 0, next; i < file->symbol_cnt; i = next) {
		uint64_t addr = file->symbols[i].addr;

		for (next = i + 1; next < file->symbol_cnt && file->symbols[next].addr == addr; next++)
			;
		if (advance(sweep, addr) ||
		    open_symbol(sweep, i, next < file->symbol_cnt ? file->symbols[next].addr : UINT64_MAX))
			return -ENOMEM;
	}
	return advance(sweep, UINT64_MAX);
}

int elf_ranges_build(struct elf_file *file)
{
	CLEANUP(sweep_release) struct sweep sweep = {.file = file};
	int err = code_sections(file, &sweep.sections);

	if (!err)
		err = unnamed_spans(file, &sweep.unnamed);
	if (!err)
		err = sweep_symbols(&sweep);
	return err ? err : fill_gap(&sweep, UINT64_MAX);
}

const struct elf_range *elf_file_ranges(struct elf_file *file, size_t *ret_cnt)
{
	elf_symbols_read(file);
	*ret_cnt = file->range_cnt;
	return file->ranges;
}

const struct elf_range *elf_range_find(const struct elf_range *ranges, size_t cnt, uint64_t addr)
{
	size_t low = BISECT(cnt, i, ranges[i].end <= addr);

	return low < cnt && ranges[low].start <= addr ? &ranges[low] : NULL;
}
