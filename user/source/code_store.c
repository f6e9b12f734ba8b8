/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages are captured when first executed, through /proc/PID/mem, and compared with their file only when a
 * snapshot is taken. Instructions are classified once and kept in a direct-mapped cache. A page that the
 * process may change unnoticed (anonymous: JIT code; or writable) is captured again when an instruction on it
 * has changed. If executed code has changed, both contents are kept, each with its time; so are pages that
 * are unmapped. Beyond PAST_MAX of those, the oldest are dropped: what ran there becomes a gap.
 */
#include "source/code_store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file/plain_file.h"
#include "base/sort.h"
#include "process/uprobe_hide.h"
#include "source/code_store_internal.h"

enum { INSN_MAX = 15, CACHE_SLOTS = 1 << 16, PAST_MAX = 4096 };

static const struct maps no_maps;

int code_store_new(struct code_store **ret_store, const struct code_store_config *config)
{
	struct code_store *store = calloc(1, sizeof(*store));

	if (store)
		store->cache = calloc(CACHE_SLOTS, sizeof(*store->cache));
	if (!store || !store->cache) {
		free(store);
		return -ENOMEM;
	}
	store->config = *config;
	store->maps = &no_maps;
	store->mem_fd = -1;
	*ret_store = store;
	return 0;
}

static void past_release(struct past_page *past)
{
	free(past->page);
	free(past->name);
}

void code_store_free(struct code_store *store)
{
	if (!store)
		return;
	closep(&store->mem_fd);
	for (size_t i = 0; i < store->page_cnt; i++)
		free(store->pages[i]);
	free(store->pages);
	for (size_t i = 0; i < store->past_cnt; i++)
		past_release(&store->past[i]);
	free(store->past);
	vdso_list_release(&store->vdsos);
	free(store->cache);
	free(store);
}

uint64_t code_store_own_vdso(const struct code_store *store)
{
	return store->vdsos.own;
}

uint64_t code_store_change_cnt(const struct code_store *store)
{
	return store->change_cnt;
}

/* ---- former contents ---- */

/* Takes ownership of the page. */
static int add_past(struct code_store *store, struct page *page, const char *name)
{
	struct past_page past = {.page = page, .name = strdup(name)};

	if (past.name && !ARRAY_PUSH(store->past, store->past_cnt, store->past_cap, past))
		return 0;
	past_release(&past);
	return -ENOMEM;
}

/* The same of a page whose content is no longer current. */
static int keep_past(struct code_store *store, struct page *page, const char *name)
{
	if (store->past_cnt == PAST_MAX) {
		past_release(&store->past[0]);
		memmove(store->past, store->past + 1, --store->past_cnt * sizeof(*store->past));
	}
	return add_past(store, page, name);
}

/*
 * A newly captured page may equal its content before it was unmapped, or was not executable: then nothing has
 * changed. Else its content counts from now on, if there was another one before.
 */
static void compare_to_past(struct code_store *store, struct page *page, const char *name, uint64_t now)
{
	for (size_t i = store->past_cnt; i-- > 0;) {
		struct past_page past = store->past[i];

		if (past.page->addr != page->addr)
			continue;
		if (strcmp(past.name, name) || memcmp(past.page->bytes, page->bytes, PAGE)) {
			page->from_ns = now;
			store->change_cnt++;
			return;
		}
		memcpy(page->executed, past.page->executed, sizeof(page->executed));
		page->from_ns = past.page->from_ns;
		past_release(&past);
		store->past_cnt--;
		memmove(&store->past[i], &store->past[i + 1], (store->past_cnt - i) * sizeof(past));
		return;
	}
}

/* ---- pages ---- */

/* Index of the first page at or after addr. */
static size_t page_slot(const struct code_store *store, uint64_t addr)
{
	return BISECT(store->page_cnt, i, store->pages[i]->addr < addr);
}

static int page_capture(struct code_store *store, struct page *page, const struct map *map)
{
	if (pread(store->mem_fd, page->bytes, PAGE, (off_t)page->addr) != PAGE)
		return uprobe_page_fill(map->mapping.name, page->bytes, PAGE) ? 0 : -EFAULT;
	/* Also an int3 of the program's own, until it is executed: code_store_found_break(). */
	uprobe_hide(store->pid, store->maps, map, page->addr, page->bytes, PAGE);
	if (store->config.unpatch)
		store->config.unpatch(store->config.ctx, &map->mapping, page->addr, page->bytes, PAGE);
	return 0;
}

struct page *code_store_page(struct code_store *store, uint64_t addr, uint64_t now)
{
	uint64_t start = addr & ~(uint64_t)(PAGE - 1);
	size_t slot = page_slot(store, start);
	CLEANUP(freep) struct page *page = NULL;
	const struct map *map;

	if (slot < store->page_cnt && store->pages[slot]->addr == start)
		return store->pages[slot];
	map = maps_find(store->maps, addr);
	page = map ? calloc(1, sizeof(*page)) : NULL;
	if (!page)
		return NULL;
	page->addr = start;
	page->checked_ns = now;
	page->can_change = map->writable || (!map->mapping.ino && map->mapping.name[0] == '/');
	if (page_capture(store, page, map) ||
	    array_reserve(&store->pages, &store->page_cap, store->page_cnt + 1, sizeof(struct page *)))
		return NULL;
	compare_to_past(store, page, map->mapping.name, now);
	memmove(store->pages + slot + 1, store->pages + slot,
		(store->page_cnt - slot) * sizeof(struct page *));
	store->pages[slot] = page;
	store->page_cnt++;
	return TAKE_PTR(page);
}

/* Copies the bytes at ip, over a page boundary if need be; returns how many are known. */
static size_t code_at(struct code_store *store, uint64_t ip, uint64_t now, uint8_t bytes[static INSN_MAX])
{
	size_t in_page = PAGE - (ip & (PAGE - 1));
	size_t first = in_page < INSN_MAX ? in_page : INSN_MAX;
	const struct page *page = code_store_page(store, ip, now);

	if (!page)
		return 0;
	memcpy(bytes, page->bytes + (ip & (PAGE - 1)), first);
	if (first == INSN_MAX)
		return INSN_MAX;
	page = code_store_page(store, ip + first, now);
	if (!page)
		return first;
	memcpy(bytes + first, page->bytes, INSN_MAX - first);
	return INSN_MAX;
}

static bool was_executed(const struct page *page, size_t at)
{
	return page->executed[at / 8] >> (at % 8) & 1;
}

static bool replaces_executed(const struct page *now, const struct page *before)
{
	for (size_t at = 0; at < PAGE; at++)
		if (was_executed(before, at) && before->bytes[at] != now->bytes[at])
			return true;
	return false;
}

void code_store_change_page(struct code_store *store, struct page *page, const struct map *map,
			    uint64_t from_ns)
{
	CLEANUP(freep) struct page *before = malloc(sizeof(*before));

	if (!before)
		return;
	*before = *page;
	if (page_capture(store, page, map) || !replaces_executed(page, before))
		return;
	page->from_ns = from_ns;
	memset(page->executed, 0, sizeof(page->executed));
	store->change_cnt++;
	keep_past(store, TAKE_PTR(before), map->mapping.name);
}

/*
 * The process's bytes at ip, and the original ones behind breakpoints; returns how many are known.
 */
static size_t memory_at(const struct code_store *store, uint64_t ip, uint8_t bytes[static INSN_MAX])
{
	const struct map *map = maps_find(store->maps, ip);
	ssize_t got = map ? pread(store->mem_fd, bytes, INSN_MAX, (off_t)ip) : 0;

	if (got > 0 && store->config.unpatch)
		store->config.unpatch(store->config.ctx, &map->mapping, ip, bytes, (size_t)got);
	return got > 0 ? (size_t)got : 0;
}

/* These bytes are about to be executed. */
static void note_executed(struct code_store *store, uint64_t ip, const uint8_t *bytes, size_t size,
			  uint64_t now)
{
	struct page *page = code_store_page(store, ip, now);
	size_t at = ip & (PAGE - 1), part = size < PAGE - at ? size : PAGE - at;

	if (!page)
		return;
	if (page->can_change && memcmp(page->bytes + at, bytes, part))
		code_store_change_page(store, page, maps_find(store->maps, ip), now);
	for (size_t i = at; i < at + part; i++)
		page->executed[i / 8] |= (uint8_t)(1 << (i % 8));
	if (part < size)
		note_executed(store, ip + part, bytes + part, size - part, now);
}

struct insn code_store_insn(struct code_store *store, uint64_t ip, uint64_t now)
{
	struct insn *cached;
	uint8_t bytes[INSN_MAX];
	struct page *page;
	size_t known;

	if (!store->cache)
		return (struct insn){.ip = ip, .kind = INSN_UNKNOWN};
	cached = &store->cache[(ip ^ ip >> 16) % CACHE_SLOTS];
	if (cached->len && cached->ip == ip)
		return *cached;
	page = code_store_page(store, ip, now);
	if (page && page->can_change && (known = memory_at(store, ip, bytes))) {
		struct insn insn = insn_classify(ip, bytes, known);

		note_executed(store, ip, bytes, insn.len, now);
		return insn;
	}
	*cached = insn_classify(ip, bytes, code_at(store, ip, now, bytes));
	return *cached;
}

void code_store_found_break(struct code_store *store, uint64_t ip, uint64_t now)
{
	struct page *page = code_store_page(store, ip, now);
	struct insn *cached = &store->cache[(ip ^ ip >> 16) % CACHE_SLOTS];

	if (page)
		page->bytes[ip & (PAGE - 1)] = ARCH_BREAKPOINT;
	if (cached->ip == ip)
		*cached = (struct insn){0};
}

/*
 * Whether the page is backed by the same bytes of the same file as before; anonymous memory is its own
 * backing.
 */
static bool page_unchanged(const struct page *page, const struct maps *before, const struct maps *now)
{
	const struct map *old = maps_find(before, page->addr), *new = maps_find(now, page->addr);

	return old && new && old->mapping.ino == new->mapping.ino && old->mapping.maj == new->mapping.maj &&
	       old->mapping.min == new->mapping.min && !strcmp(old->mapping.name, new->mapping.name) &&
	       (!old->mapping.ino ||
		old->mapping.file_offset - old->mapping.addr == new->mapping.file_offset - new->mapping.addr);
}

/* Whether the page's file has the same content. Beyond the end of the file there are zeroes. */
static bool same_as_file(const struct page *page, const struct sideband_mapping *mapping)
{
	uint8_t bytes[PAGE] = {0};
	CLEANUP(closep) int fd = -1;

	if (!mapping->ino)
		return false;
	fd = plain_file_open(mapping->name);
	if (fd < 0 || pread(fd, bytes, PAGE, (off_t)(page->addr - mapping->addr + mapping->file_offset)) < 0)
		return false;
	return !memcmp(bytes, page->bytes, PAGE);
}

/* Whether the recording must hold the page's content. */
static bool is_ours_alone(const struct page *page, const struct map *map)
{
	return map && strcmp(map->mapping.name, "[vdso]") && !same_as_file(page, &map->mapping);
}

static int forget_changed(struct code_store *store, const struct maps *before, const struct maps *now)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < store->page_cnt; i++) {
		struct page *page = store->pages[i];
		const struct map *map = maps_find(before, page->addr);

		if (page_unchanged(page, before, now))
			store->pages[kept++] = page;
		else if (!err && is_ours_alone(page, map))
			err = keep_past(store, page, map->mapping.name);
		else
			free(page);
	}
	if (kept != store->page_cnt)
		memset(store->cache, 0, CACHE_SLOTS * sizeof(*store->cache));
	store->page_cnt = kept;
	return err;
}

int code_store_set_maps(struct code_store *store, pid_t pid, const struct maps *before,
			const struct maps *now)
{
	char path[64];
	int err = forget_changed(store, before, now);

	if (err)
		return err;
	store->maps = now;
	store->pid = pid;
	/* Opened again each time: the descriptor belongs to the address space, which an exec replaces. */
	closep(&store->mem_fd);
	store->mem_fd = -1;
	/* The program is one that we may not read. */
	if (!now->cnt)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	store->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	/* Of a process that ends, the file is root's as soon as the memory is gone. */
	if (store->mem_fd < 0 && errno == EACCES)
		return fail(-ESRCH, "process %d has ended", pid);
	if (store->mem_fd < 0)
		return fail_errno(-errno, "cannot read the code of process %d", pid);
	return vdso_list_add(&store->vdsos, pid, now, store->mem_fd);
}

const struct maps *code_store_maps(const struct code_store *store)
{
	return store->maps;
}

int code_store_end(struct code_store *store)
{
	int err = 0;

	for (size_t i = 0; i < store->page_cnt; i++) {
		struct page *page = store->pages[i];
		const struct map *map = maps_find(store->maps, page->addr);

		if (!err && is_ours_alone(page, map))
			err = add_past(store, page, map->mapping.name);
		else
			free(page);
	}
	store->page_cnt = 0;
	store->maps = &no_maps;
	closep(&store->mem_fd);
	store->mem_fd = -1;
	free(store->cache);
	store->cache = NULL;
	if (!store->vdsos.cnt)
		vdso_list_release(&store->vdsos);
	return err;
}

/* ---- export ---- */

static int add_page(const struct code_store *store, struct snapshot *snapshot, struct page *page,
		    const char *name)
{
	const struct code_copy copy = {.pid = store->pid,
				       .addr = page->addr,
				       .size = PAGE,
				       .from_ns = page->from_ns,
				       .name = (char *)name,
				       .bytes = page->bytes};

	return snapshot_join_copy(snapshot, &copy);
}

/* Pages of which a source has copies of its own: as they were when they were executed. */
struct copied {
	struct sort_key *pages;
	size_t cnt, cap;
};

static void copied_release(struct copied *copied)
{
	free(copied->pages);
}

static int find_copied(struct copied *copied, const struct code_store *store, const struct snapshot *snapshot)
{
	int err = 0;

	for (size_t i = 0; i < snapshot->copy_cnt && !err; i++) {
		const struct sort_key page = {.value = snapshot->copies[i].addr};

		if (snapshot->copies[i].pid == store->pid)
			err = ARRAY_PUSH(copied->pages, copied->cnt, copied->cap, page);
	}
	sort_array(copied->pages, copied->cnt, sizeof(*copied->pages), sort_by_key);
	return err;
}

static bool is_copied(const struct copied *copied, uint64_t addr)
{
	const struct sort_key page = {.value = addr};

	return copied->cnt && bsearch(&page, copied->pages, copied->cnt, sizeof(page), sort_by_key);
}

int code_store_export(const struct code_store *store, struct snapshot *snapshot)
{
	CLEANUP(copied_release) struct copied copied = {0};
	int err = find_copied(&copied, store, snapshot);

	for (size_t i = 0; i < store->vdsos.cnt && !err; i++)
		err = snapshot_join_copy(snapshot, &store->vdsos.items[i]);
	for (size_t i = 0; i < store->past_cnt && !err; i++)
		if (!is_copied(&copied, store->past[i].page->addr))
			err = add_page(store, snapshot, store->past[i].page, store->past[i].name);
	for (size_t i = 0; i < store->page_cnt && !err; i++) {
		struct page *page = store->pages[i];
		const struct map *map = maps_find(store->maps, page->addr);

		if (is_ours_alone(page, map) && !is_copied(&copied, page->addr))
			err = add_page(store, snapshot, page, map->mapping.name);
	}
	return err;
}
