/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bundled example: counts words in a hash table that grows when it is half full. What happens before it
 * has to grow? Ask with
 *	trailcam run -t table_grow -- wordcount
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	char word[24];
	unsigned int cnt;
};

struct table {
	struct entry *entries;
	size_t size, used;
};

static const char text[] = "A trail camera waits in the dark. Something trips its sensor, and it keeps the "
			   "picture of what led up to that moment. The camera does not know what it waits "
			   "for; it only knows that when the sensor trips, the moments before are the ones "
			   "that matter.";

__attribute__((noinline)) static size_t hash_word(const char *word)
{
	size_t hash = 5381;

	while (*word)
		hash = hash * 33 + (unsigned char)*word++;
	return hash;
}

__attribute__((noinline)) static struct entry *table_find(struct table *table, const char *word)
{
	size_t slot = hash_word(word) % table->size;

	while (table->entries[slot].cnt && strcmp(table->entries[slot].word, word))
		slot = (slot + 1) % table->size;
	return &table->entries[slot];
}

__attribute__((noinline)) static void table_grow(struct table *table)
{
	struct table bigger = {.size = table->size * 2};

	bigger.entries = calloc(bigger.size, sizeof(*bigger.entries));
	if (!bigger.entries)
		abort();
	for (size_t i = 0; i < table->size; i++) {
		if (!table->entries[i].cnt)
			continue;
		*table_find(&bigger, table->entries[i].word) = table->entries[i];
		bigger.used++;
	}
	free(table->entries);
	*table = bigger;
}

__attribute__((noinline)) static void table_add(struct table *table, const char *word)
{
	struct entry *entry;

	if (table->used * 2 >= table->size)
		table_grow(table);
	entry = table_find(table, word);
	if (!entry->cnt++) {
		strcpy(entry->word, word);
		table->used++;
	}
}

__attribute__((noinline)) static const char *next_word(const char *from, char word[static 24])
{
	size_t len = 0;

	while (*from && !isalpha((unsigned char)*from))
		from++;
	while (isalpha((unsigned char)*from) && len < 23)
		word[len++] = (char)tolower((unsigned char)*from++);
	word[len] = '\0';
	return len ? from : NULL;
}

int main(void)
{
	struct table table = {.size = 32};
	char word[24];

	table.entries = calloc(table.size, sizeof(*table.entries));
	if (!table.entries)
		return 1;
	for (const char *at = text; (at = next_word(at, word));)
		table_add(&table, word);
	printf("%zu different words\n", table.used);
	free(table.entries);
	return 0;
}
