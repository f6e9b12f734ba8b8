/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that nobody saw executed: the kernel says which pages are the process's own, so they may differ from
 * their file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "source/code_store_internal.h"

/* An entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
static bool is_private(uint64_t entry, bool has_file)
{
	bool there = entry >> 62 & 3,
	     of_file = entry >> 61 & 1; /* present or swapped out; a page of a file */

	return there && !(has_file && of_file);
}

/*
 * A change since the last check came at an unknown time. The current trace ends now, so the current content
 * is more likely.
 */
static void look_at_page(struct code_store *store, uint64_t addr, uint64_t now)
{
	struct page *page = code_store_page(store, addr, now);

	if (!page || !page->can_change)
		return;
	if (page->checked_ns != now) /* else it was captured just now */
		code_store_change_page(store, page, maps_find(store->maps, addr), page->checked_ns + 1);
	page->checked_ns = now;
	memset(page->executed, 0xff, sizeof(page->executed));
}

static int look_at_pages(struct code_store *store, const struct map *map, int pagemap_fd, uint64_t now)
{
	const struct sideband_mapping *mapping = &map->mapping;
	size_t cnt = mapping->size / PAGE;
	CLEANUP(freep) uint64_t *entries = malloc((cnt + 1) * sizeof(*entries));
	ssize_t got;

	if (!entries)
		return -ENOMEM;
	got = pread(pagemap_fd, entries, cnt * sizeof(*entries),
		    (off_t)(mapping->addr / PAGE * sizeof(*entries)));
	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(*entries); i++)
		if (is_private(entries[i], mapping->ino))
			look_at_page(store, mapping->addr + i * PAGE, now);
	return 0;
}

int code_store_keep_private(struct code_store *store, uint64_t now)
{
	CLEANUP(closep) int fd = -1;
	char path[64];
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", store->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < store->maps->cnt && !err; i++) {
		const struct map *map = &store->maps->items[i];

		if (uprobe_page_is(map->mapping.name))
			code_store_page(store, map->mapping.addr, now);
		else if (fd >= 0 && strcmp(map->mapping.name, "[vdso]") &&
			 strcmp(map->mapping.name, "[vsyscall]"))
			err = look_at_pages(store, map, fd, now);
	}
	return err;
}
