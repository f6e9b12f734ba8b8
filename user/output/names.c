/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint32_t hash_name(uint32_t parent, const char *text)
{
	uint32_t hash = 2166136261u ^ parent * 2654435761u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

static void link_name(struct names *names, uint32_t number)
{
	uint32_t *bucket = &names->buckets[names->items[number].hash & (names->bucket_cnt - 1)];

	names->items[number].next = *bucket;
	*bucket = number;
}

/* Buckets are a power of two, at least as many as names. */
static int grow_buckets(struct names *names)
{
	size_t cnt = names->bucket_cnt ? 2 * names->bucket_cnt : 1024;
	uint32_t *buckets = calloc(cnt, sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	free(names->buckets);
	names->buckets = buckets;
	names->bucket_cnt = cnt;
	for (uint32_t i = 1; i < names->cnt; i++)
		link_name(names, i);
	return 0;
}

uint32_t names_get(struct names *names, uint32_t parent, const char *text)
{
	struct name name = {.parent = parent, .hash = hash_name(parent, text), .text = text};
	uint32_t at = names->bucket_cnt ? names->buckets[name.hash & (names->bucket_cnt - 1)] : 0;

	for (; at; at = names->items[at].next) {
		const struct name *known = &names->items[at];

		if (known->hash == name.hash && known->parent == parent && !strcmp(known->text, text))
			return at;
	}
	if (names->cnt == UINT32_MAX || (names->cnt >= names->bucket_cnt && grow_buckets(names)))
		return 0;
	if (!names->cnt && ARRAY_PUSH(names->items, names->cnt, names->cap, (struct name){0}))
		return 0;
	if (ARRAY_PUSH(names->items, names->cnt, names->cap, name))
		return 0;
	link_name(names, (uint32_t)names->cnt - 1);
	return (uint32_t)names->cnt - 1;
}

void names_release(struct names *names)
{
	free(names->items);
	free(names->buckets);
	*names = (struct names){0};
}
