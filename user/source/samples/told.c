/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/samples/told.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/containers/hash_index.h"

struct samples_told {
	struct told {
		uint32_t tid;
		int32_t fd;
		char *text;
	} * items;
	size_t cnt, cap;
	struct hash_index index;
};

static uint64_t hash_of(uint32_t tid, int32_t fd)
{
	return hash_number(hash_number(0, tid), (uint32_t)fd);
}

static struct told *find(const struct samples_told *told, uint32_t tid, int32_t fd)
{
	for (size_t at = 0, i;
	     told && (i = hash_index_next(&told->index, hash_of(tid, fd), &at)) != HASH_INDEX_END;)
		if (told->items[i].tid == tid && told->items[i].fd == fd)
			return &told->items[i];
	return NULL;
}

const char *samples_told_find(const struct samples_told *told, uint32_t tid, int32_t fd)
{
	const struct told *known = find(told, tid, fd);

	return known ? known->text : NULL;
}

int samples_told_note(struct samples_told **told, uint32_t tid, int32_t fd, char *text)
{
	struct told *known = find(*told, tid, fd);
	int err;

	if (known) {
		free(known->text);
		known->text = text;
		return 0;
	}
	if (!*told)
		*told = calloc(1, sizeof(**told));
	err = *told ? ARRAY_PUSH((*told)->items, (*told)->cnt, (*told)->cap, ((struct told){tid, fd, text}))
		    : -ENOMEM;
	if (err) {
		free(text);
		return err;
	}
	return hash_index_add(&(*told)->index, hash_of(tid, fd), (*told)->cnt - 1);
}

void samples_told_forget(struct samples_told **told)
{
	if (!*told)
		return;
	for (size_t i = 0; i < (*told)->cnt; i++)
		free((*told)->items[i].text);
	free((*told)->items);
	hash_index_release(&(*told)->index);
	free(*told);
	*told = NULL;
}
