/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One libipt section cache for all decodes: its sections carry the cache of decoded blocks, which makes
 * decoding six times faster than reading code by callback, and which only serves decoders that have the same
 * flags (so the instruction decoder, which does not use it, is the only other one). libipt maps the files for
 * itself, and returns their bytes only as a copy under a lock. Each block needs its branch instruction, so
 * the files are mapped here a second time (from the same page cache), indexed by libipt's section number.
 */
#include "decode/cache.h"

#include <intel-pt.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/containers/hash_index.h"
#include "base/error.h"
#include "base/file/plain_file.h"
#include "decode/decoder.h"
#include "decode/libipt/status.h"

/* A file, mapped whole: a recording has thousands of pages of code in one, and mappings are few. */
struct mapped_file {
	char *path;
	const uint8_t *bytes;
	size_t size;
};

struct decoder_cache {
	pthread_mutex_t lock; /* guards what is below; sections themselves do not change */
	struct decoder_tally tally;
	struct pt_image_section_cache *iscache;
	struct cached_section **items; /* by isid; NULL where there is none */
	size_t cnt, cap;
	struct hash_index known; /* isids by what was wanted: libipt would compare with all that it has */
	struct mapped_file *files;
	size_t file_cnt, file_cap;
	struct hash_index files_by_path;
	struct seam **seams;
	size_t seam_cnt, seam_cap;
	struct hash_index seams_by_isids;
	struct graph_store store; /* of all their graphs */
};

int decoder_cache_new(struct decoder_cache **ret_cache)
{
	CLEANUP(freep) struct decoder_cache *cache = calloc(1, sizeof(*cache));
	int err;

	if (!cache)
		return fail(-ENOMEM, "no memory for the code cache");
	cache->iscache = pt_iscache_alloc(NULL);
	if (!cache->iscache)
		return fail(-ENOMEM, "no memory for the code cache");
	err = graph_store_init(&cache->store);
	if (err) {
		pt_iscache_free(cache->iscache);
		return err;
	}
	pthread_mutex_init(&cache->lock, NULL);
	*ret_cache = TAKE_PTR(cache);
	return 0;
}

static void file_release(struct mapped_file *file)
{
	munmap((void *)file->bytes, file->size);
	free(file->path);
}

static void section_free(struct cached_section *section)
{
	if (!section)
		return;
	free((char *)section->wanted.path);
	free(section);
}

void decoder_cache_free(struct decoder_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->cnt; i++)
		section_free(cache->items[i]);
	free(cache->items);
	for (size_t i = 0; i < cache->file_cnt; i++)
		file_release(&cache->files[i]);
	free(cache->files);
	hash_index_release(&cache->files_by_path);
	for (size_t i = 0; i < cache->seam_cnt; i++)
		free(cache->seams[i]);
	free(cache->seams);
	hash_index_release(&cache->seams_by_isids);
	hash_index_release(&cache->known);
	graph_store_release(&cache->store);
	pt_iscache_free(cache->iscache);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

const struct graph_store *decoder_cache_store(const struct decoder_cache *cache)
{
	return &cache->store;
}

struct pt_image_section_cache *decoder_cache_iscache(struct decoder_cache *cache)
{
	return cache->iscache;
}

/* The mapping is shared, for the kernel writes uprobes into private ones. */
static int map_file(const char *path, struct mapped_file *ret_file)
{
	CLEANUP(closep) int fd = plain_file_open(path);
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st))
		return fail_errno(-errno, "%s", path);
	if (!st.st_size)
		return fail(-EINVAL, "%s is empty", path);
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return fail_errno(-errno, "%s", path);
	*ret_file = (struct mapped_file){.bytes = bytes, .size = (size_t)st.st_size};
	return 0;
}

/* Takes over what `file` has, or leaves it alone. */
static int add_file(struct decoder_cache *cache, uint64_t hash, const struct mapped_file *file)
{
	int err = file->path ? array_reserve(&cache->files, &cache->file_cap, cache->file_cnt + 1,
					     sizeof(*cache->files))
			     : -ENOMEM;

	if (!err)
		err = hash_index_add(&cache->files_by_path, hash, cache->file_cnt);
	if (!err)
		cache->files[cache->file_cnt++] = *file;
	return err ? fail(err, "no memory for the code cache") : 0;
}

/* The file, mapped if it was not yet. It may move when the next one is. */
static int get_file(struct decoder_cache *cache, const char *path, const struct mapped_file **ret_file)
{
	uint64_t hash = hash_text(0, path);
	struct mapped_file file;
	int err;

	for (size_t at = 0, i; (i = hash_index_next(&cache->files_by_path, hash, &at)) != HASH_INDEX_END;)
		if (!strcmp(cache->files[i].path, path)) {
			*ret_file = &cache->files[i];
			return 0;
		}
	err = map_file(path, &file);
	if (err)
		return err;
	file.path = strdup(path);
	err = add_file(cache, hash, &file);
	if (err)
		file_release(&file);
	else
		*ret_file = &cache->files[cache->file_cnt - 1];
	return err;
}

static int section_map(struct decoder_cache *cache, const struct code_section *wanted,
		       struct cached_section *section)
{
	const struct mapped_file *file;
	int err = get_file(cache, wanted->path, &file);

	if (err)
		return err;
	if (wanted->file_offset >= file->size)
		return fail(-EINVAL, "%s has no code at offset 0x%lx", wanted->path, wanted->file_offset);
	section->size = file->size - wanted->file_offset;
	if (section->size > wanted->size)
		section->size = wanted->size;
	section->bytes = file->bytes + wanted->file_offset;
	section->addr = wanted->addr;
	return 0;
}

static int items_grow(struct decoder_cache *cache, size_t cnt)
{
	int err = array_reserve(&cache->items, &cache->cap, cnt, sizeof(*cache->items));

	if (err)
		return fail(err, "no memory for the code cache");
	if (cnt > cache->cnt) {
		memset(cache->items + cache->cnt, 0, (cnt - cache->cnt) * sizeof(*cache->items));
		cache->cnt = cnt;
	}
	return 0;
}

/* The graphs of the same code in 32-bit and 64-bit mode. */
static void graphs_init(struct graph graphs[2], struct decoder_cache *cache, const uint8_t *bytes,
			size_t size, uint64_t addr)
{
	for (int is_64 = 0; is_64 < 2; is_64++)
		graphs[is_64] = (struct graph){
			.bytes = bytes, .size = size, .addr = addr, .is_64 = is_64, .store = &cache->store};
}

static int section_new(struct cached_section **ret_section, struct decoder_cache *cache,
		       const struct code_section *wanted, int isid)
{
	CLEANUP(freep) struct cached_section *section = calloc(1, sizeof(*section));
	CLEANUP(freep) char *path = strdup(wanted->path);
	int err;

	if (!section || !path)
		return fail(-ENOMEM, "no memory for the code cache");
	section->isid = isid;
	err = section_map(cache, wanted, section);
	if (err)
		return err;
	graphs_init(section->graphs, cache, section->bytes, section->size, section->addr);
	section->wanted = *wanted;
	section->wanted.path = TAKE_PTR(path);
	*ret_section = TAKE_PTR(section);
	return 0;
}

/*
 * The versions of an image share their paths, so that none need be read. An equal one
 * elsewhere is libipt's to find.
 */
static uint64_t hash_wanted(const struct code_section *wanted)
{
	return hash_number(
		hash_number(hash_number((uintptr_t)wanted->path, wanted->file_offset), wanted->size),
		wanted->addr);
}

static struct cached_section *find_known(const struct decoder_cache *cache, const struct code_section *wanted,
					 uint64_t hash)
{
	for (size_t at = 0, isid; (isid = hash_index_next(&cache->known, hash, &at)) != HASH_INDEX_END;) {
		struct cached_section *section = cache->items[isid];

		if (section->wanted.addr == wanted->addr && section->wanted.size == wanted->size &&
		    section->wanted.file_offset == wanted->file_offset &&
		    !strcmp(section->wanted.path, wanted->path))
			return section;
	}
	return NULL;
}

static int cache_add_locked(struct decoder_cache *cache, const struct code_section *wanted,
			    struct cached_section **ret_section)
{
	uint64_t hash = hash_wanted(wanted);
	int isid, err;

	*ret_section = find_known(cache, wanted, hash);
	if (*ret_section)
		return 0;
	isid = pt_iscache_add_file(cache->iscache, wanted->path, wanted->file_offset, wanted->size,
				   wanted->addr);
	if (isid <= 0)
		return status_fail(isid, wanted->path);
	err = items_grow(cache, (size_t)isid + 1);
	if (err)
		return err;
	if (!cache->items[isid]) {
		err = section_new(&cache->items[isid], cache, wanted, isid);
		if (err)
			return err;
	}
	err = hash_index_add(&cache->known, hash, (size_t)isid);
	if (err)
		return fail(err, "no memory for the code cache");
	*ret_section = cache->items[isid];
	return 0;
}

int decoder_cache_add(struct decoder_cache *cache, const struct code_section *section,
		      struct cached_section **ret_section)
{
	int err;

	if (!section->path || !section->size)
		return fail(-EINVAL, "a section without a file or without bytes");
	pthread_mutex_lock(&cache->lock);
	err = cache_add_locked(cache, section, ret_section);
	pthread_mutex_unlock(&cache->lock);
	return err;
}

const struct cached_section *decoder_cache_section(struct decoder_cache *cache, int isid)
{
	const struct cached_section *section;

	pthread_mutex_lock(&cache->lock);
	section = isid > 0 && (size_t)isid < cache->cnt ? cache->items[isid] : NULL;
	pthread_mutex_unlock(&cache->lock);
	return section;
}

/* ---- seams ---- */

static size_t at_most_an_insn(size_t size)
{
	return size < CODE_INSN_MAX ? size : CODE_INSN_MAX;
}

static struct seam *seam_new(struct decoder_cache *cache, const struct cached_section *before,
			     const struct cached_section *behind)
{
	size_t left = at_most_an_insn(before->size), right = behind ? at_most_an_insn(behind->size) : 0;
	struct seam *seam = calloc(1, sizeof(*seam));

	if (!seam)
		return NULL;
	seam->before = before;
	seam->behind = behind;
	memcpy(seam->bytes, before->bytes + before->size - left, left);
	if (behind)
		memcpy(seam->bytes + left, behind->bytes, right);
	graphs_init(seam->graphs, cache, seam->bytes, left + right, before->addr + before->size - left);
	for (int is_64 = 0; is_64 < 2; is_64++)
		seam->graphs[is_64].is_end = !behind;
	return seam;
}

static struct seam *get_seam_locked(struct decoder_cache *cache, const struct cached_section *before,
				    const struct cached_section *behind)
{
	uint64_t hash =
		hash_number(hash_number(0, (uint64_t)before->isid), behind ? (uint64_t)behind->isid : 0);
	struct seam *seam;

	for (size_t at = 0, i; (i = hash_index_next(&cache->seams_by_isids, hash, &at)) != HASH_INDEX_END;)
		if (cache->seams[i]->before == before && cache->seams[i]->behind == behind)
			return cache->seams[i];
	seam = seam_new(cache, before, behind);
	if (ARRAY_TAKE(cache->seams, cache->seam_cnt, cache->seam_cap, seam))
		return NULL;
	return hash_index_add(&cache->seams_by_isids, hash, cache->seam_cnt - 1) ? NULL : seam;
}

struct seam *decoder_cache_seam(struct decoder_cache *cache, const struct cached_section *before,
				const struct cached_section *behind)
{
	struct seam *seam;

	pthread_mutex_lock(&cache->lock);
	seam = get_seam_locked(cache, before, behind);
	pthread_mutex_unlock(&cache->lock);
	return seam;
}

void decoder_cache_count(struct decoder_cache *cache, size_t bytes, const char *why)
{
	struct decoder_tally *tally = &cache->tally;

	pthread_mutex_lock(&cache->lock);
	tally->pieces++;
	tally->bytes += bytes;
	if (why) {
		tally->declined_pieces++;
		tally->declined_bytes += bytes;
		tally->why = tally->why ? tally->why : why;
	}
	pthread_mutex_unlock(&cache->lock);
}

void decoder_cache_tally(struct decoder_cache *cache, struct decoder_tally *ret_tally)
{
	pthread_mutex_lock(&cache->lock);
	*ret_tally = cache->tally;
	pthread_mutex_unlock(&cache->lock);
}
