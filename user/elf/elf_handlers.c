/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collected ranges may be nested (OCaml's try in a try). They are cut into disjoint pieces, each with its
 * innermost handler:
 *
 *	[--------- a ---------)			[- a -)[- b -)[- a -)
 *		[- b -)			->
 */
#include "elf/elf_handlers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "elf/elf_internal.h"

static int compare(const void *left, const void *right)
{
	const struct elf_handler *a = left, *b = right;

	/* The outer one first. */
	return ORDER_UP(a->start, b->start) ?: ORDER_DOWN(a->end, b->end);
}

static int emit(struct elf_handler_list *flat, uint64_t start, uint64_t end, uint64_t handler)
{
	struct elf_handler piece = {.start = start, .end = end, .handler = handler};

	return start < end ? ARRAY_PUSH(flat->items, flat->cnt, flat->cap, piece) : 0;
}

/* Pieces up to `to` of what is open; what ends before is closed. */
static int advance(struct elf_handler_list *flat, struct elf_handler_list *open, uint64_t *at, uint64_t to)
{
	int err = 0;

	while (open->cnt && !err) {
		const struct elf_handler *top = &open->items[open->cnt - 1];
		uint64_t end = top->end < to ? top->end : to;

		if (end > *at) {
			err = emit(flat, *at, end, top->handler);
			*at = end;
		}
		if (top->end > to)
			break;
		open->cnt--;
	}
	*at = to;
	return err;
}

static int flatten(const struct elf_handler_list *nested, struct elf_handler_list *flat)
{
	struct elf_handler_list open = {0};
	uint64_t at = 0;
	int err = 0;

	for (size_t i = 0; i < nested->cnt && !err; i++) {
		err = advance(flat, &open, &at, nested->items[i].start);
		if (!err)
			err = ARRAY_PUSH(open.items, open.cnt, open.cap, nested->items[i]);
	}
	if (!err)
		err = advance(flat, &open, &at, UINT64_MAX);
	free(open.items);
	return err;
}

static int index_handlers(struct elf_file *file)
{
	const struct elf_handler_list *list = &file->handlers;

	file->landings = calloc(list->cnt + 1, sizeof(*file->landings));
	if (!file->landings)
		return -ENOMEM;
	for (size_t i = 0; i < list->cnt; i++)
		file->landings[i] = list->items[i].handler;
	sort_array(file->landings, list->cnt, sizeof(*file->landings), sort_by_number);
	return 0;
}

static void read_handlers(struct elf_file *file)
{
	struct elf_handler_list nested = {0};

	if (elf_lsda_handlers(file, &nested) || elf_ocaml_handlers(file, &nested)) {
		free(nested.items);
		return;
	}
	sort_array(nested.items, nested.cnt, sizeof(*nested.items), compare);
	if (flatten(&nested, &file->handlers) || index_handlers(file))
		file->handlers.cnt = 0;
	free(nested.items);
}

const struct elf_handler *elf_file_handlers(struct elf_file *file, size_t *ret_cnt)
{
	if (!file->handlers_read)
		read_handlers(file);
	file->handlers_read = true;
	*ret_cnt = file->handlers.cnt;
	return file->handlers.items;
}

enum landing elf_file_catches(struct elf_file *file, uint64_t call, uint64_t handler)
{
	size_t cnt, at;
	const struct elf_handler *handlers = elf_file_handlers(file, &cnt);

	if (!cnt || !bsearch(&handler, file->landings, cnt, sizeof(handler), sort_by_number))
		return LANDING_UNKNOWN;
	if (!call)
		return LANDING_YES;
	at = BISECT(cnt, i, handlers[i].end <= call);
	return at < cnt && handlers[at].start <= call && handlers[at].handler == handler ? LANDING_YES
											 : LANDING_NO;
}
