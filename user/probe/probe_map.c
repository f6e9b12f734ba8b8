/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A mapping is of a probed file when the inode number agrees and either the device or the path does: on
 * overlayfs the device in /proc/PID/maps is not the one that stat(2) gives.
 */
#include "probe/probe_map.h"
#include "probe/probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/cleanup.h"

static bool same_file(const struct probe *probe, const struct sideband_mapping *mapping)
{
	struct stat st;

	if (stat(probe->path, &st) || st.st_ino != mapping->ino)
		return false;
	return (major(st.st_dev) == mapping->maj && minor(st.st_dev) == mapping->min) ||
	       !strcmp(probe->path, mapping->name);
}

/* The address of the probe in this mapping; false where it lies elsewhere. */
static bool probe_addr(const struct probe *probe, const struct sideband_mapping *mapping, uint64_t *ret_addr)
{
	if (probe->file_offset < mapping->file_offset ||
	    probe->file_offset - mapping->file_offset >= mapping->size || !same_file(probe, mapping))
		return false;
	*ret_addr = mapping->addr + (probe->file_offset - mapping->file_offset);
	return true;
}

static int verify(const struct probe *probe, pid_t pid, uint64_t addr)
{
	CLEANUP(closep) int fd = -1;
	char path[64];
	uint8_t code;
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : pread(fd, &code, sizeof(code), (off_t)addr);
	if (size <= 0)
		return 0; /* the process is gone: nothing to verify */
	return probe_verify(probe, &code, (size_t)size);
}

int probe_map_verify(const struct probe_map *map, pid_t pid, const struct sideband_mapping *mapping)
{
	for (size_t i = 0; i < map->trigger_cnt; i++) {
		for (size_t j = 0; j < map->triggers[i].probe_cnt; j++) {
			const struct probe *probe = &map->triggers[i].probes[j];
			uint64_t addr;
			int err = probe_addr(probe, mapping, &addr) ? verify(probe, pid, addr) : 0;

			if (err)
				return err;
		}
	}
	return 0;
}

long probe_map_find(const struct probe_map *map, const struct sideband_mapping *mapping, uint64_t addr)
{
	long number = 0;

	for (size_t i = 0; i < map->trigger_cnt; i++) {
		for (size_t j = 0; j < map->triggers[i].probe_cnt; j++, number++) {
			uint64_t at;

			if (probe_addr(&map->triggers[i].probes[j], mapping, &at) && at == addr)
				return number;
		}
	}
	return -1;
}

size_t probe_map_first(const struct probe_map *map, const struct probe *probe)
{
	size_t number = 0;

	for (size_t i = 0; i < map->trigger_cnt; i++) {
		for (size_t j = 0; j < map->triggers[i].probe_cnt; j++, number++) {
			const struct probe *other = &map->triggers[i].probes[j];

			if (other->file_offset == probe->file_offset && !strcmp(other->path, probe->path))
				return number;
		}
	}
	return number;
}

size_t probe_map_cnt(const struct probe_map *map)
{
	size_t cnt = 0;

	for (size_t i = 0; i < map->trigger_cnt; i++)
		cnt += map->triggers[i].probe_cnt;
	return cnt;
}

void probe_unpatch(const struct probe *probe, const struct sideband_mapping *mapping, uint64_t addr,
		   uint8_t *bytes, size_t size)
{
	uint64_t at;

	if (probe_addr(probe, mapping, &at) && at - addr < size && bytes[at - addr] == ARCH_BREAKPOINT)
		bytes[at - addr] = probe->original[0];
}

void probe_map_unpatch(const struct probe_map *map, const struct sideband_mapping *mapping, uint64_t addr,
		       uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < map->trigger_cnt; i++) {
		for (size_t j = 0; j < map->triggers[i].probe_cnt; j++)
			probe_unpatch(&map->triggers[i].probes[j], mapping, addr, bytes, size);
	}
}
