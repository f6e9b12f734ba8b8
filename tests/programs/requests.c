/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers requests, one a line, from a cache: the tutorial's example. Nearly all are answered at once; one in
 * some fifty takes a hundred times as long, and nothing in what is asked or answered says why.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ENTRIES = 64, PAGE_BYTES = 48 };

struct entry {
	char key[16];
	char page[PAGE_BYTES];
	uint32_t sum;
};

static struct entry cache[ENTRIES];
static int entry_cnt;

__attribute__((noinline)) uint32_t checksum(const char *bytes, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + (unsigned char)bytes[i];
	return sum;
}

__attribute__((noinline)) void render(char *page, const char *key)
{
	snprintf(page, PAGE_BYTES, "<p>%s</p>", key);
}

__attribute__((noinline)) int is_intact(const struct entry *entry)
{
	return checksum(entry->page, PAGE_BYTES) == entry->sum;
}

/* Keeps what is not damaged, and of that the newer half. */
__attribute__((noinline)) void cache_compact(void)
{
	int kept = 0;

	for (int i = 0; i < entry_cnt; i++)
		if (is_intact(&cache[i]))
			cache[kept++] = cache[i];
	memmove(cache, cache + kept / 2, (size_t)(kept - kept / 2) * sizeof(*cache));
	entry_cnt = kept - kept / 2;
}

__attribute__((noinline)) struct entry *cache_find(const char *key)
{
	/* The newest are asked for most. */
	for (int i = entry_cnt - 1; i >= 0 && i > entry_cnt - 4; i--)
		if (!strcmp(cache[i].key, key))
			return &cache[i];
	return NULL;
}

__attribute__((noinline)) struct entry *cache_add(const char *key)
{
	struct entry *entry;

	if (entry_cnt == ENTRIES)
		cache_compact();
	entry = &cache[entry_cnt++];
	memset(entry, 0, sizeof(*entry));
	strncpy(entry->key, key, sizeof(entry->key) - 1);
	render(entry->page, key);
	entry->sum = checksum(entry->page, PAGE_BYTES);
	return entry;
}

__attribute__((noinline)) int handle_request(const char *key)
{
	struct entry *entry = cache_find(key);

	if (!entry)
		entry = cache_add(key);
	return (int)strlen(entry->page);
}

int main(void)
{
	char line[16];
	long bytes = 0;
	int cnt = 0;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		bytes += handle_request(line);
		cnt++;
	}
	printf("%d requests, %ld bytes\n", cnt, bytes);
	return 0;
}
