/* SPDX-License-Identifier: BSD-2-Clause */
/* Caches: tools/perf/Documentation/perf-buildid-cache.txt; debuginfod-client-config(7). */
#include "image/binaries.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file/plain_file.h"
#include "base/file/reading.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "model/sideband.h"

enum { HEX_BYTES = 2 * sizeof(((struct build_id *)0)->bytes) + 1 };

enum { COPIES_MAX = 512 << 20 }; /* bytes; they are held in memory */

struct binary {
	char *name, *path; /* path may be NULL */
};

struct binaries {
	const struct snapshot *snapshot;
	const char *symfs;
	struct binary *items;
	size_t cnt, cap;
};

int binaries_new(struct binaries **ret_binaries, const struct snapshot *snapshot, const char *symfs)
{
	struct binaries *binaries = calloc(1, sizeof(*binaries));

	if (!binaries)
		return -ENOMEM;
	binaries->snapshot = snapshot;
	binaries->symfs = symfs;
	*ret_binaries = binaries;
	return 0;
}

void binaries_free(struct binaries *binaries)
{
	if (!binaries)
		return;
	for (size_t i = 0; i < binaries->cnt; i++) {
		free(binaries->items[i].name);
		free(binaries->items[i].path);
	}
	free(binaries->items);
	free(binaries);
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* False: it has none that we know. */
static bool read_build_id(const char *path, struct build_id *ret_id)
{
	struct elf_file *file;
	const uint8_t *bytes;
	size_t size;

	*ret_id = (struct build_id){0};
	if (elf_file_open(&file, path))
		return false;
	bytes = elf_file_build_id(file, &size);
	if (bytes && size <= sizeof(ret_id->bytes)) {
		memcpy(ret_id->bytes, bytes, size);
		ret_id->size = (uint8_t)size;
	}
	elf_file_close(file);
	return ret_id->size;
}

static bool is_same_id(const struct build_id *a, const struct build_id *b)
{
	return a && b && a->size && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static void to_hex(const struct build_id *id, char text[static HEX_BYTES])
{
	*text = '\0';
	for (size_t i = 0; i < id->size; i++)
		sprintf(text + 2 * i, "%02x", id->bytes[i]);
}

/* ---- candidates ---- */

/* Whether it is the file that was traced, as far as that is known. */
static bool is_it(const char *path, const struct build_id *wanted)
{
	struct build_id id;

	if (!is_file(path))
		return false;
	return !wanted || (read_build_id(path, &id) && is_same_id(&id, wanted));
}

/* Takes over `path`, which may be NULL. */
static char *if_it_is(char *path, const struct build_id *wanted)
{
	if (path && is_it(path, wanted))
		return path;
	free(path);
	return NULL;
}

static char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *format(const char *fmt, ...)
{
	char *text;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

/* The cache of debuginfod's clients. */
static char *in_debuginfod(const struct build_id *wanted, const char *hex)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");

	if (cache)
		return if_it_is(format("%s/%s/executable", cache, hex), wanted);
	if (xdg)
		return if_it_is(format("%s/debuginfod_client/%s/executable", xdg, hex), wanted);
	return home ? if_it_is(format("%s/.cache/debuginfod_client/%s/executable", home, hex), wanted) : NULL;
}

static char *in_caches(const struct build_id *wanted)
{
	const char *home = getenv("HOME");
	char hex[HEX_BYTES], *path = NULL;

	if (!wanted || wanted->size < 2)
		return NULL;
	to_hex(wanted, hex);
	if (home)
		path = if_it_is(format("%s/.debug/.build-id/%.2s/%s/elf", home, hex, hex + 2), wanted);
	return path ? path : in_debuginfod(wanted, hex);
}

/* The copy of that file, perhaps made under the name that it has through another process. */
static const struct code_copy *find_copy(const struct snapshot *snapshot, const char *name)
{
	const struct build_id *wanted = snapshot_build_id(snapshot, name);

	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		const struct code_copy *copy = &snapshot->copies[i];

		if (copy->pid == -1 && (!strcmp(copy->name, name) ||
					is_same_id(wanted, snapshot_build_id(snapshot, copy->name))))
			return copy;
	}
	return NULL;
}

static char *in_copies(const struct snapshot *snapshot, const char *name)
{
	const struct code_copy *copy = find_copy(snapshot, name);

	return copy && copy->path ? strdup(copy->path) : NULL;
}

static char *find(const struct binaries *binaries, const char *name, const struct build_id *wanted)
{
	char *path = NULL;

	if (binaries->symfs)
		path = if_it_is(format("%s/%s", binaries->symfs, name), wanted);
	if (!path && binaries->symfs)
		path = if_it_is(format("%s/%s", binaries->symfs, strrchr(name, '/') + 1), wanted);
	if (!path)
		path = in_copies(binaries->snapshot, name);
	if (!path)
		path = if_it_is(strdup(name), wanted);
	return path ? path : in_caches(wanted);
}

static void tell_of_another(const char *name, const struct build_id *wanted)
{
	char is[HEX_BYTES], was[HEX_BYTES];
	struct build_id id;

	if (!wanted || !is_file(name))
		return;
	read_build_id(name, &id);
	to_hex(&id, is);
	to_hex(wanted, was);
	log_warn("%s is another build than the one that was traced (build-id %s, not %s), so its calls are "
		 "missing: name a directory that has the right one with --symfs DIR",
		 name, *is ? is : "none", was);
}

int binaries_find(struct binaries *binaries, const char *name, const char **ret_path)
{
	const struct build_id *wanted = snapshot_build_id(binaries->snapshot, name);
	struct binary binary;

	for (size_t i = 0; i < binaries->cnt; i++) {
		if (strcmp(binaries->items[i].name, name))
			continue;
		*ret_path = binaries->items[i].path;
		return 0;
	}
	binary = (struct binary){strdup(name), find(binaries, name, wanted)};
	if (!binary.path)
		tell_of_another(name, wanted);
	if (!binary.name || ARRAY_PUSH(binaries->items, binaries->cnt, binaries->cap, binary)) {
		free(binary.name);
		free(binary.path);
		return -ENOMEM;
	}
	*ret_path = binary.path;
	return 0;
}

/* ---- capturing ---- */

static uint64_t copied_bytes(const struct snapshot *snapshot)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < snapshot->copy_cnt; i++)
		bytes += snapshot->copies[i].pid == -1 ? snapshot->copies[i].size : 0;
	return bytes;
}

/* A file that cannot be read is left out, and so is one that there is no room for. */
static int copy_file(struct snapshot *snapshot, const char *name, const char *path)
{
	CLEANUP(fclosep) FILE *file = plain_file_stream(path);
	CLEANUP(freep) uint8_t *bytes = NULL;
	struct stat st;

	if (!file || fstat(fileno(file), &st) || !st.st_size)
		return 0;
	if (copied_bytes(snapshot) + (uint64_t)st.st_size > COPIES_MAX) {
		log_warn("%s is not copied, since all copies would have more than %d MiB: its calls have no "
			 "names once its process has ended",
			 name, COPIES_MAX >> 20);
		return 0;
	}
	bytes = malloc((size_t)st.st_size);
	if (!bytes)
		return -ENOMEM;
	if (fread(bytes, 1, (size_t)st.st_size, file) != (size_t)st.st_size)
		return 0;
	return snapshot_take_copy(snapshot, -1, snapshot->copy_cnt, name, TAKE_PTR(bytes),
				  (size_t)st.st_size);
}

int binaries_keep(struct snapshot *snapshot, const char *name, const char *path)
{
	struct build_id id;

	if (!is_file(path) || !reading_has(path, ELFMAG, SELFMAG, SELFMAG))
		return 0;
	if (!snapshot_build_id(snapshot, name) && read_build_id(path, &id) &&
	    snapshot_add_build_id(snapshot, name, &id))
		return -ENOMEM;
	return find_copy(snapshot, name) ? 0 : copy_file(snapshot, name, path);
}

int binaries_note_build_ids(struct snapshot *snapshot)
{
	struct sideband_record record;
	size_t pos = 0;

	while (sideband_next(snapshot, &pos, &record) > 0) {
		const char *name = record.mapping.name;
		struct build_id id;

		if (record.type != PERF_RECORD_MMAP2 || name[0] != '/' || snapshot_build_id(snapshot, name) ||
		    !is_file(name) || !read_build_id(name, &id))
			continue;
		if (snapshot_add_build_id(snapshot, name, &id))
			return -ENOMEM;
	}
	return 0;
}
