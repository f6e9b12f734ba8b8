/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the debug file of a stripped file: by its build-id, or by .gnu_debuglink with the right checksum
 * beside the file, in .debug/ or under /usr/lib/debug (gdb's manual, "Separate Debug Files"), or in
 * debuginfod's cache.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file/plain_file.h"
#include "elf/elf_internal.h"

static Elf *open_debug(const char *path, int *ret_fd)
{
	int fd = plain_file_open(path);
	Elf *elf = fd < 0 ? NULL : elf_map(fd);

	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64) {
		*ret_fd = fd;
		return elf;
	}
	if (elf)
		elf_end(elf);
	if (fd >= 0)
		close(fd);
	return NULL;
}

static Elf *by_build_id(const char *hex, int *ret_fd)
{
	char path[256];

	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	return open_debug(path, ret_fd);
}

/* What debuginfod-find(1) has fetched: debuginfod-client-config(7). */
static Elf *by_debuginfod(const char *hex, int *ret_fd)
{
	static const struct {
		const char *variable, *below;
	} places[] = {{"DEBUGINFOD_CACHE_PATH", ""},
		      {"XDG_CACHE_HOME", "/debuginfod_client"},
		      {"HOME", "/.cache/debuginfod_client"}};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const char *dir = secure_getenv(places[i].variable);
		char path[PATH_MAX];
		Elf *elf;

		if (!dir || !*dir)
			continue;
		snprintf(path, sizeof(path), "%s%s/%s/debuginfo", dir, places[i].below, hex);
		elf = open_debug(path, ret_fd);
		if (elf)
			return elf;
	}
	return NULL;
}

/* The CRC-32 of gzip, as .gnu_debuglink uses it; four bits at a time. */
static uint32_t crc32_update(uint32_t crc, const uint8_t *bytes, size_t size)
{
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};

	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc;
}

static uint32_t file_crc32(int fd)
{
	uint32_t crc = 0xffffffff;
	uint8_t bytes[1 << 16];
	off_t pos = 0;
	ssize_t size;

	for (; (size = pread(fd, bytes, sizeof(bytes), pos)) > 0; pos += size)
		crc = crc32_update(crc, bytes, (size_t)size);
	return ~crc;
}

static Elf *open_checked(const char *path, uint32_t crc, int *ret_fd)
{
	int fd;
	Elf *elf = open_debug(path, &fd);

	if (!elf)
		return NULL;
	if (file_crc32(fd) == crc) {
		*ret_fd = fd;
		return elf;
	}
	elf_end(elf);
	close(fd);
	return NULL;
}

/* The section is a name, padded to a multiple of 4 bytes, and the checksum. NULL where there is none. */
static const char *read_debuglink(const struct elf_file *file, uint32_t *ret_crc)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section(file->elf, ".gnu_debuglink", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	const char *name = data ? data->d_buf : NULL;
	const char *end = name ? memchr(name, 0, data->d_size) : NULL;
	size_t crc_at = end ? ((size_t)(end - name) + 4) & ~(size_t)3 : 0;

	if (!end || !name[0] || strchr(name, '/') || crc_at + sizeof(*ret_crc) > data->d_size)
		return NULL;
	memcpy(ret_crc, name + crc_at, sizeof(*ret_crc));
	return name;
}

static Elf *by_debuglink(const struct elf_file *file, int *ret_fd)
{
	static const struct {
		const char *before, *after;
	} places[] = {{"", ""}, {"", ".debug/"}, {"/usr/lib/debug", ""}};
	uint32_t crc;
	const char *name = read_debuglink(file, &crc);
	CLEANUP(freep) char *real = name ? realpath(file->path, NULL) : NULL;
	int dir_len = real ? (int)(strrchr(real, '/') + 1 - real) : 0;

	for (size_t i = 0; real && i < ARRAY_SIZE(places); i++) {
		char path[PATH_MAX];
		Elf *elf = NULL;

		snprintf(path, sizeof(path), "%s%.*s%s%s", places[i].before, dir_len, real, places[i].after,
			 name);
		if (strcmp(path, real))
			elf = open_checked(path, crc, ret_fd);
		if (elf)
			return elf;
	}
	return NULL;
}

Elf *elf_debug_file(struct elf_file *file)
{
	char hex[2 * sizeof(file->build_id) + 1];

	if (file->debug_sought)
		return file->debug;
	file->debug_sought = true;
	for (size_t i = 0; i < file->build_id_size; i++)
		sprintf(hex + 2 * i, "%02x", file->build_id[i]);
	if (file->build_id_size > 1)
		file->debug = by_build_id(hex, &file->debug_fd);
	if (!file->debug)
		file->debug = by_debuglink(file, &file->debug_fd);
	if (!file->debug && file->build_id_size > 1)
		file->debug = by_debuginfod(hex, &file->debug_fd);
	if (!file->debug)
		file->debug = elf_minidebug_open(file, &file->minidebug);
	return file->debug;
}
