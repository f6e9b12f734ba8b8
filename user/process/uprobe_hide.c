/* SPDX-License-Identifier: BSD-2-Clause */
/* What differs from the file of a mapping that the process cannot write is somebody's uprobe. */
#include "process/uprobe_hide.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "base/file/plain_file.h"

enum { NOP5_BYTES = 5 };

/* How much of the file that is mapped at addr was read; 0: it cannot be. */
static size_t read_file(pid_t pid, const struct sideband_mapping *mapping, uint64_t addr, uint8_t *bytes,
			size_t size)
{
	CLEANUP(closep) int fd = plain_file_open(mapping->name);
	CLEANUP(freep) char *link = fd < 0 ? maps_link(pid, mapping) : NULL; /* it has been deleted since */
	ssize_t got;

	if (link)
		fd = plain_file_open(link);
	got = fd < 0 ? 0 : pread(fd, bytes, size, (off_t)(addr - mapping->addr + mapping->file_offset));
	return got > 0 ? (size_t)got : 0;
}

/*
 * Whether the call instruction `code` at addr leads into a uprobe trampoline, which the kernel maps without a
 * record.
 */
static bool calls_uprobe(pid_t pid, const struct maps *known, uint64_t addr, const uint8_t *code)
{
	CLEANUP(maps_release) struct maps maps = {0};
	const struct map *map;
	int32_t distance;

	memcpy(&distance, code + 1, sizeof(distance));
	addr += NOP5_BYTES + (uint64_t)(int64_t)distance;
	map = maps_find(known, addr);
	if (!map && !maps_read(&maps, pid))
		map = maps_find(&maps, addr);
	return map && uprobe_page_is(map->mapping.name);
}

/*
 * How many bytes of `code`, compared with those of the file, a uprobe has changed: an int3, or the call that
 * replaces a probed five-byte nop.
 */
static size_t uprobe_size(pid_t pid, const struct maps *maps, uint64_t addr, const uint8_t *code,
			  const uint8_t *file, size_t size)
{
	static const uint8_t nop5[NOP5_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	enum { CALL_REL32 = 0xe8 };

	if (*code == *file)
		return 0;
	if (size >= NOP5_BYTES && !memcmp(file, nop5, NOP5_BYTES) &&
	    (*code == ARCH_BREAKPOINT || (*code == CALL_REL32 && calls_uprobe(pid, maps, addr, code))))
		return NOP5_BYTES;
	return *code == ARCH_BREAKPOINT;
}

void uprobe_hide(pid_t pid, const struct maps *maps, const struct map *map, uint64_t addr, uint8_t *bytes,
		 size_t size)
{
	uint8_t file[UPROBE_HIDE_MAX];
	size_t known =
		map->mapping.ino && !map->writable ? read_file(pid, &map->mapping, addr, file, size) : 0;

	for (size_t at = 0; at < known; at++) {
		size_t hidden = uprobe_size(pid, maps, addr + at, bytes + at, file + at, known - at);

		memcpy(bytes + at, file + at, hidden);
	}
}
