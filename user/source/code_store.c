/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages are captured when first executed, through /proc/PID/mem, and compared with their file only when a snapshot is taken.
 * Instructions are classified once and kept in a direct-mapped cache. A page that the process may change behind our back
 * (anonymous: JIT code; or writable) is captured again whenever an instruction on it no longer reads the same; the last
 * content wins, so code that is overwritten after it ran is not kept.
 */
#include "source/code_store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "source/uprobe_page.h"

enum { PAGE = 4096, INSN_MAX = 15, CACHE_SLOTS = 1 << 16 };

struct page {
	uint64_t addr;
	bool can_change;
	uint8_t bytes[PAGE];
};

struct code_store {
	struct code_store_config config;
	pid_t pid;
	int mem_fd;
	struct maps maps;
	struct page **pages; /* sorted by address */
	size_t page_cnt, page_cap;
	struct code_copy *vdsos; /* whole, one per exec */
	size_t vdso_cnt, vdso_cap;
	struct insn cache[CACHE_SLOTS];
};

int code_store_new(struct code_store **ret_store, const struct code_store_config *config)
{
	struct code_store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	store->config = *config;
	store->mem_fd = -1;
	*ret_store = store;
	return 0;
}

void code_store_free(struct code_store *store)
{
	if (!store)
		return;
	closep(&store->mem_fd);
	maps_release(&store->maps);
	for (size_t i = 0; i < store->page_cnt; i++)
		free(store->pages[i]);
	free(store->pages);
	for (size_t i = 0; i < store->vdso_cnt; i++)
		free(store->vdsos[i].bytes);
	free(store->vdsos);
	free(store);
}

const struct maps *code_store_maps(const struct code_store *store)
{
	return &store->maps;
}

/* Index of the first page at or after addr. */
static size_t page_slot(const struct code_store *store, uint64_t addr)
{
	size_t low = 0, high = store->page_cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (store->pages[mid]->addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int page_capture(struct code_store *store, struct page *page, const struct map *map)
{
	if (pread(store->mem_fd, page->bytes, PAGE, (off_t)page->addr) != PAGE)
		return uprobe_page_fill(map->mapping.name, page->bytes, PAGE) ? 0 : -EFAULT;
	if (store->config.unpatch)
		store->config.unpatch(store->config.ctx, &map->mapping, page->addr, page->bytes, PAGE);
	return 0;
}

/* The page that holds addr, captured now if it is new; NULL where it is no code or cannot be read. */
static struct page *page_get(struct code_store *store, uint64_t addr)
{
	uint64_t start = addr & ~(uint64_t)(PAGE - 1);
	size_t slot = page_slot(store, start);
	CLEANUP(freep) struct page *page = NULL;
	const struct map *map;

	if (slot < store->page_cnt && store->pages[slot]->addr == start)
		return store->pages[slot];
	map = maps_find(&store->maps, addr);
	page = map ? malloc(sizeof(*page)) : NULL;
	if (!page)
		return NULL;
	page->addr = start;
	page->can_change = map->writable || (!map->mapping.ino && map->mapping.name[0] == '/');
	if (page_capture(store, page, map) ||
	    array_reserve(&store->pages, &store->page_cap, store->page_cnt + 1, sizeof(struct page *)))
		return NULL;
	memmove(store->pages + slot + 1, store->pages + slot,
		(store->page_cnt - slot) * sizeof(struct page *));
	store->pages[slot] = page;
	store->page_cnt++;
	return TAKE_PTR(page);
}

/* Copies the bytes at ip, over a page boundary if need be; returns how many are known. */
static size_t code_at(struct code_store *store, uint64_t ip, uint8_t bytes[static INSN_MAX])
{
	size_t in_page = PAGE - (ip & (PAGE - 1));
	size_t first = in_page < INSN_MAX ? in_page : INSN_MAX;
	const struct page *page = page_get(store, ip);

	if (!page)
		return 0;
	memcpy(bytes, page->bytes + (ip & (PAGE - 1)), first);
	if (first == INSN_MAX)
		return INSN_MAX;
	page = page_get(store, ip + first);
	if (!page)
		return first;
	memcpy(bytes + first, page->bytes, INSN_MAX - first);
	return INSN_MAX;
}

/* Captures the page again if what is being executed on it is not what it was. */
static void refresh(struct code_store *store, struct page *page, uint64_t ip)
{
	size_t at = ip & (PAGE - 1);
	size_t size = PAGE - at < INSN_MAX ? PAGE - at : INSN_MAX;
	const struct map *map = maps_find(&store->maps, ip);
	uint8_t bytes[INSN_MAX];

	if (!map || pread(store->mem_fd, bytes, size, (off_t)ip) != (ssize_t)size)
		return;
	if (memcmp(bytes, page->bytes + at, size))
		page_capture(store, page, map);
}

struct insn code_store_insn(struct code_store *store, uint64_t ip)
{
	struct insn *cached = &store->cache[(ip ^ ip >> 16) % CACHE_SLOTS];
	uint8_t bytes[INSN_MAX];
	struct page *page;

	if (cached->len && cached->ip == ip)
		return *cached;
	page = page_get(store, ip);
	if (page && page->can_change)
		refresh(store, page, ip);
	if (page && page->can_change)
		return insn_classify(ip, bytes, code_at(store, ip, bytes));
	*cached = insn_classify(ip, bytes, code_at(store, ip, bytes));
	return *cached;
}

/* Whether the page is backed by the same bytes of the same file as before; anonymous memory is its own backing. */
static bool page_unchanged(const struct page *page, const struct maps *before, const struct maps *now)
{
	const struct map *old = maps_find(before, page->addr), *new = maps_find(now, page->addr);

	return old && new && old->mapping.ino == new->mapping.ino && old->mapping.maj == new->mapping.maj &&
	       old->mapping.min == new->mapping.min && !strcmp(old->mapping.name, new->mapping.name) &&
	       (!old->mapping.ino ||
		old->mapping.file_offset - old->mapping.addr == new->mapping.file_offset - new->mapping.addr);
}

static void forget_changed(struct code_store *store, const struct maps *now)
{
	size_t kept = 0;

	for (size_t i = 0; i < store->page_cnt; i++) {
		if (page_unchanged(store->pages[i], &store->maps, now))
			store->pages[kept++] = store->pages[i];
		else
			free(store->pages[i]);
	}
	if (kept != store->page_cnt)
		memset(store->cache, 0, sizeof(store->cache));
	store->page_cnt = kept;
}

/* The vDSO is no file: it is kept whole. */
static int keep_vdso(struct code_store *store)
{
	for (size_t i = 0; i < store->maps.cnt; i++) {
		const struct sideband_mapping *mapping = &store->maps.items[i].mapping;
		struct code_copy copy = {.pid = store->pid, .addr = mapping->addr, .size = mapping->size};

		if (strcmp(mapping->name, "[vdso]"))
			continue;
		for (size_t j = 0; j < store->vdso_cnt; j++)
			if (store->vdsos[j].addr == copy.addr)
				return 0;
		copy.bytes = malloc(copy.size);
		if (!copy.bytes ||
		    array_reserve(&store->vdsos, &store->vdso_cap, store->vdso_cnt + 1, sizeof(copy))) {
			free(copy.bytes);
			return -ENOMEM;
		}
		if (pread(store->mem_fd, copy.bytes, copy.size, (off_t)copy.addr) == (ssize_t)copy.size)
			store->vdsos[store->vdso_cnt++] = copy;
		else
			free(copy.bytes);
	}
	return 0;
}

int code_store_set_maps(struct code_store *store, pid_t pid, struct maps *maps)
{
	char path[64];

	forget_changed(store, maps);
	maps_release(&store->maps);
	store->maps = *maps;
	*maps = (struct maps){0};
	store->pid = pid;
	/* Opened anew each time: the file belongs to the address space, which an exec replaces. */
	closep(&store->mem_fd);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	store->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (store->mem_fd < 0)
		return fail_errno(-errno, "cannot read the code of process %d", pid);
	return keep_vdso(store);
}

/* ---- what nobody saw executed ---- */

/* An entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
static bool is_private(uint64_t entry, bool has_file)
{
	bool there = entry >> 62 & 3,
	     of_file = entry >> 61 & 1; /* present or swapped out; a page of a file */

	return there && !(has_file && of_file);
}

static int keep_pages(struct code_store *store, const struct map *map, int pagemap_fd)
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
			page_get(store, mapping->addr + i * PAGE);
	return 0;
}

int code_store_keep_private(struct code_store *store)
{
	CLEANUP(closep) int fd = -1;
	char path[64];
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", store->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < store->maps.cnt && !err; i++) {
		const struct map *map = &store->maps.items[i];

		if (uprobe_page_is(map->mapping.name))
			page_get(store, map->mapping.addr);
		else if (fd >= 0 && strcmp(map->mapping.name, "[vdso]") &&
			 strcmp(map->mapping.name, "[vsyscall]"))
			err = keep_pages(store, map, fd);
	}
	return err;
}

/* ---- export ---- */

static int add_copy(struct snapshot *snapshot, pid_t pid, uint64_t addr, const uint8_t *bytes, size_t size,
		    const char *name)
{
	struct code_copy *last = snapshot->copy_cnt ? &snapshot->copies[snapshot->copy_cnt - 1] : NULL;

	if (last && last->pid == pid && last->addr + last->size == addr && !strcmp(last->name, name)) {
		uint8_t *grown = realloc(last->bytes, last->size + size);

		if (!grown)
			return -ENOMEM;
		memcpy(grown + last->size, bytes, size);
		last->bytes = grown;
		last->size += size;
		return 0;
	}
	last = snapshot_add_copy(snapshot);
	if (!last)
		return -ENOMEM;
	*last = (struct code_copy){
		.pid = pid, .addr = addr, .size = size, .name = strdup(name), .bytes = malloc(size)};
	if (!last->name || !last->bytes)
		return -ENOMEM;
	memcpy(last->bytes, bytes, size);
	return 0;
}

/* Whether the page stands in its file as it was executed. What follows the end of the file is zero. */
static bool same_as_file(const struct page *page, const struct sideband_mapping *mapping)
{
	uint8_t bytes[PAGE] = {0};
	CLEANUP(closep) int fd = -1;

	if (!mapping->ino)
		return false;
	fd = open(mapping->name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, bytes, PAGE, (off_t)(page->addr - mapping->addr + mapping->file_offset)) < 0)
		return false;
	return !memcmp(bytes, page->bytes, PAGE);
}

int code_store_export(const struct code_store *store, struct snapshot *snapshot)
{
	for (size_t i = 0; i < store->vdso_cnt; i++) {
		const struct code_copy *vdso = &store->vdsos[i];
		int err = add_copy(snapshot, vdso->pid, vdso->addr, vdso->bytes, vdso->size, "[vdso]");

		if (err)
			return err;
	}
	for (size_t i = 0; i < store->page_cnt; i++) {
		const struct page *page = store->pages[i];
		const struct map *map = maps_find(&store->maps, page->addr);
		int err;

		if (!map || !strcmp(map->mapping.name, "[vdso]") || same_as_file(page, &map->mapping))
			continue;
		err = add_copy(snapshot, store->pid, page->addr, page->bytes, PAGE, map->mapping.name);
		if (err)
			return err;
	}
	return 0;
}

int code_store_add_own_vdso(struct snapshot *snapshot)
{
	CLEANUP(maps_release) struct maps maps = {0};
	int err = maps_read(&maps, getpid());

	for (size_t i = 0; i < maps.cnt && !err; i++) {
		const struct sideband_mapping *mapping = &maps.items[i].mapping;

		if (!strcmp(mapping->name, "[vdso]"))
			err = add_copy(snapshot, -1, mapping->addr, (const uint8_t *)mapping->addr,
				       mapping->size, "[vdso]");
	}
	return err;
}
