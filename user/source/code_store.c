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
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file/plain_file.h"
#include "base/sort.h"
#include "process/shield.h"

enum { PAGE = 4096, INSN_MAX = 15, NOP5_BYTES = 5, CACHE_SLOTS = 1 << 16, PAST_MAX = 4096 };

struct page {
	uint64_t addr;
	uint64_t from_ns;    /* as in code_copy */
	uint64_t checked_ns; /* nobody sees each instruction: last known to be like this */
	bool can_change;
	uint8_t executed[PAGE / 8]; /* a bit for each byte, where it can change */
	uint8_t bytes[PAGE];
};

/* What a page once held. */
struct past_page {
	struct page *page;
	char *name; /* of its mapping */
};

struct code_store {
	struct code_store_config config;
	pid_t pid;
	int mem_fd;
	const struct maps *maps;
	struct page **pages; /* sorted by address */
	size_t page_cnt, page_cap;
	struct past_page *past; /* by time */
	size_t past_cnt, past_cap;
	uint64_t change_cnt;
	struct code_copy *vdsos; /* whole, one per exec */
	size_t vdso_cnt, vdso_cap;
	uint64_t own_vdso;  /* where it is the same as the recorder's */
	struct insn *cache; /* CACHE_SLOTS of them */
};

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
	for (size_t i = 0; i < store->vdso_cnt; i++)
		free(store->vdsos[i].bytes);
	free(store->vdsos);
	free(store->cache);
	free(store);
}

uint64_t code_store_own_vdso(const struct code_store *store)
{
	return store->own_vdso;
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

/* ---- code behind breakpoints ---- */

/* How much of the file that is mapped at addr was read; 0: it cannot be. */
static size_t read_file(const struct code_store *store, const struct sideband_mapping *mapping, uint64_t addr,
			uint8_t *bytes, size_t size)
{
	CLEANUP(closep) int fd = plain_file_open(mapping->name);
	char link[96];
	ssize_t got;

	if (fd < 0) { /* it has been deleted since */
		snprintf(link, sizeof(link), "/proc/%d/map_files/%lx-%lx", store->pid, mapping->addr,
			 mapping->addr + mapping->size);
		fd = plain_file_open(link);
	}
	got = fd < 0 ? 0 : pread(fd, bytes, size, (off_t)(addr - mapping->addr + mapping->file_offset));
	return got > 0 ? (size_t)got : 0;
}

/*
 * Whether the call instruction `code` at addr leads into a uprobe trampoline, which the kernel maps without a
 * record.
 */
static bool calls_uprobe(const struct code_store *store, uint64_t addr, const uint8_t *code)
{
	CLEANUP(maps_release) struct maps maps = {0};
	const struct map *map;
	int32_t distance;

	memcpy(&distance, code + 1, sizeof(distance));
	addr += NOP5_BYTES + (uint64_t)(int64_t)distance;
	map = maps_find(store->maps, addr);
	if (!map && !maps_read(&maps, store->pid))
		map = maps_find(&maps, addr);
	return map && uprobe_page_is(map->mapping.name);
}

/*
 * How many bytes of `code`, compared with those of the file, a uprobe has changed: an int3, or the call that
 * replaces a probed five-byte nop.
 */
static size_t uprobe_size(const struct code_store *store, uint64_t addr, const uint8_t *code,
			  const uint8_t *file, size_t size)
{
	static const uint8_t nop5[NOP5_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	enum { CALL_REL32 = 0xe8 };

	if (*code == *file)
		return 0;
	if (size >= NOP5_BYTES && !memcmp(file, nop5, NOP5_BYTES) &&
	    (*code == ARCH_BREAKPOINT || (*code == CALL_REL32 && calls_uprobe(store, addr, code))))
		return NOP5_BYTES;
	return *code == ARCH_BREAKPOINT;
}

/*
 * Anybody's uprobes are in file mappings that the process cannot write: the file holds the original bytes. An
 * int3 of the program's own looks the same, until it is executed: code_store_found_break().
 */
static void hide_uprobes(const struct code_store *store, const struct map *map, uint64_t addr, uint8_t *bytes,
			 size_t size)
{
	uint8_t file[PAGE];
	size_t known =
		map->mapping.ino && !map->writable ? read_file(store, &map->mapping, addr, file, size) : 0;

	for (size_t at = 0; at < known; at++) {
		size_t hidden = uprobe_size(store, addr + at, bytes + at, file + at, known - at);

		memcpy(bytes + at, file + at, hidden);
	}
}

/* ---- pages ---- */

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
	hide_uprobes(store, map, page->addr, page->bytes, PAGE);
	if (store->config.unpatch)
		store->config.unpatch(store->config.ctx, &map->mapping, page->addr, page->bytes, PAGE);
	return 0;
}

/* The page that holds addr, captured now if it is new; NULL: it is not code, or cannot be read. */
static struct page *page_get(struct code_store *store, uint64_t addr, uint64_t now)
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
	const struct page *page = page_get(store, ip, now);

	if (!page)
		return 0;
	memcpy(bytes, page->bytes + (ip & (PAGE - 1)), first);
	if (first == INSN_MAX)
		return INSN_MAX;
	page = page_get(store, ip + first, now);
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

/* The page has new content since from_ns. The old content is kept only if some of it was executed. */
static void change_page(struct code_store *store, struct page *page, const struct map *map, uint64_t from_ns)
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
	struct page *page = page_get(store, ip, now);
	size_t at = ip & (PAGE - 1), part = size < PAGE - at ? size : PAGE - at;

	if (!page)
		return;
	if (page->can_change && memcmp(page->bytes + at, bytes, part))
		change_page(store, page, maps_find(store->maps, ip), now);
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
	page = page_get(store, ip, now);
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
	struct page *page = page_get(store, ip, now);
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

static char vdso_name[] = "[vdso]";

/* The recorder's own; it has none where size is 0. */
static const struct sideband_mapping *own_vdso(void)
{
	static struct sideband_mapping own;
	static bool sought;
	CLEANUP(maps_release) struct maps maps = {0};

	if (sought || maps_read(&maps, getpid()))
		return &own;
	sought = true;
	for (size_t i = 0; i < maps.cnt; i++)
		if (!strcmp(maps.items[i].mapping.name, vdso_name))
			own = maps.items[i].mapping;
	own.name = vdso_name;
	return &own;
}

/* It is nearly always the same as ours, and stored once: code_store_add_own_vdso(). */
static bool is_own_vdso(const struct code_copy *copy)
{
	const struct sideband_mapping *own = own_vdso();

	return own->size == copy->size && !memcmp((const void *)own->addr, copy->bytes, copy->size);
}

/* It has no file, so it is stored completely. */
static int keep_vdso(struct code_store *store)
{
	for (size_t i = 0; i < store->maps->cnt; i++) {
		const struct sideband_mapping *mapping = &store->maps->items[i].mapping;
		struct code_copy copy = {
			.pid = store->pid, .addr = mapping->addr, .size = mapping->size, .name = vdso_name};

		if (strcmp(mapping->name, vdso_name))
			continue;
		if (copy.addr == store->own_vdso)
			return 0;
		for (size_t j = 0; j < store->vdso_cnt; j++)
			if (store->vdsos[j].addr == copy.addr)
				return 0;
		copy.bytes = malloc(copy.size);
		if (!copy.bytes ||
		    array_reserve(&store->vdsos, &store->vdso_cap, store->vdso_cnt + 1, sizeof(copy))) {
			free(copy.bytes);
			return -ENOMEM;
		}
		if (pread(store->mem_fd, copy.bytes, copy.size, (off_t)copy.addr) == (ssize_t)copy.size) {
			shield_hide(copy.bytes, copy.size);
			if (!is_own_vdso(&copy)) {
				store->vdsos[store->vdso_cnt++] = copy;
				continue;
			}
			store->own_vdso = copy.addr;
		}
		free(copy.bytes);
	}
	return 0;
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
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	store->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (store->mem_fd < 0)
		return fail_errno(-errno, "cannot read the code of process %d", pid);
	return keep_vdso(store);
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
	if (!store->vdso_cnt) {
		free(store->vdsos);
		store->vdsos = NULL;
		store->vdso_cap = 0;
	}
	return err;
}

/* ---- code that nobody saw executed ---- */

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
	struct page *page = page_get(store, addr, now);

	if (!page || !page->can_change)
		return;
	if (page->checked_ns != now) /* else it was captured just now */
		change_page(store, page, maps_find(store->maps, addr), page->checked_ns + 1);
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
			page_get(store, map->mapping.addr, now);
		else if (fd >= 0 && strcmp(map->mapping.name, "[vdso]") &&
			 strcmp(map->mapping.name, "[vsyscall]"))
			err = look_at_pages(store, map, fd, now);
	}
	return err;
}

/* ---- export ---- */

static int add_copy(struct snapshot *snapshot, const struct code_copy *from)
{
	struct code_copy *last = snapshot->copy_cnt ? &snapshot->copies[snapshot->copy_cnt - 1] : NULL;

	if (last && last->pid == from->pid && last->addr + last->size == from->addr &&
	    last->from_ns == from->from_ns && !strcmp(last->name, from->name)) {
		uint8_t *grown = realloc(last->bytes, last->size + from->size);

		if (!grown)
			return -ENOMEM;
		memcpy(grown + last->size, from->bytes, from->size);
		last->bytes = grown;
		last->size += from->size;
		return 0;
	}
	last = snapshot_add_copy(snapshot);
	if (!last)
		return -ENOMEM;
	*last = *from;
	last->name = strdup(from->name);
	last->bytes = malloc(from->size);
	if (!last->name || !last->bytes)
		return -ENOMEM;
	memcpy(last->bytes, from->bytes, from->size);
	return 0;
}

static int add_page(const struct code_store *store, struct snapshot *snapshot, struct page *page,
		    const char *name)
{
	const struct code_copy copy = {.pid = store->pid,
				       .addr = page->addr,
				       .size = PAGE,
				       .from_ns = page->from_ns,
				       .name = (char *)name,
				       .bytes = page->bytes};

	return add_copy(snapshot, &copy);
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

	for (size_t i = 0; i < store->vdso_cnt && !err; i++)
		err = add_copy(snapshot, &store->vdsos[i]);
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

int code_store_add_own_vdso(struct snapshot *snapshot)
{
	const struct sideband_mapping *own = own_vdso();
	const struct code_copy copy = {.pid = -1,
				       .addr = own->addr,
				       .size = own->size,
				       .name = vdso_name,
				       .bytes = (uint8_t *)own->addr};

	return own->size ? add_copy(snapshot, &copy) : 0;
}
