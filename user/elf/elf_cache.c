/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dynamic loader's cache: an array of entries that point to strings (glibc's elf/dl-cache.h, "struct
 * cache_file_new"). The file is small and read as a whole for each search.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "arch/arch.h"
#include "elf/elf_internal.h"

struct cache_header {
	char magic[20]; /* "glibc-ld.so.cache1.1" */
	uint32_t lib_cnt, string_bytes;
	uint8_t flags, padding[3];
	uint32_t extension;
	uint32_t unused[3];
};

struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* offsets from the header */
	uint32_t os_version;
	uint64_t hwcap;
};

static const char *cache_string(const uint8_t *cache, size_t size, uint32_t at)
{
	return at < size && memchr(cache + at, 0, size - at) ? (const char *)cache + at : NULL;
}

static char *search_cache(const uint8_t *cache, size_t size, const char *name)
{
	struct cache_header header;

	if (size < sizeof(header))
		return NULL;
	memcpy(&header, cache, sizeof(header));
	if (memcmp(header.magic, "glibc-ld.so.cache1.1", 20) ||
	    header.lib_cnt > (size - sizeof(header)) / sizeof(struct cache_entry))
		return NULL;
	for (uint32_t i = 0; i < header.lib_cnt; i++) {
		struct cache_entry entry;
		const char *key, *value;

		memcpy(&entry, cache + sizeof(header) + i * sizeof(entry), sizeof(entry));
		key = cache_string(cache, size, entry.key);
		value = cache_string(cache, size, entry.value);
		/* Entries with hardware capabilities are for other processors, or extra copies. */
		if (key && value && entry.flags == ARCH_LIBRARY_FLAGS && !entry.hwcap &&
		    elf_library_is_called(key, name) && elf_library_is_usable(value))
			return strdup(value);
	}
	return NULL;
}

char *elf_cache_find(const char *name)
{
	CLEANUP(closep) int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *cache;
	char *path;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	cache = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (cache == MAP_FAILED)
		return NULL;
	path = search_cache(cache, (size_t)st.st_size, name);
	munmap(cache, (size_t)st.st_size);
	return path;
}
