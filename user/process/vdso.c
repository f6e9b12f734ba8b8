/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/vdso.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "process/shield.h"

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

/* It is nearly always the same as ours, and stored once: vdso_add_own(). */
static bool is_own_vdso(const struct code_copy *copy)
{
	const struct sideband_mapping *own = own_vdso();

	return own->size == copy->size && !memcmp((const void *)own->addr, copy->bytes, copy->size);
}

int vdso_list_add(struct vdso_list *list, pid_t pid, const struct maps *maps, int mem_fd)
{
	for (size_t i = 0; i < maps->cnt; i++) {
		const struct sideband_mapping *mapping = &maps->items[i].mapping;
		struct code_copy copy = {
			.pid = pid, .addr = mapping->addr, .size = mapping->size, .name = vdso_name};

		if (strcmp(mapping->name, vdso_name))
			continue;
		if (copy.addr == list->own)
			return 0;
		for (size_t j = 0; j < list->cnt; j++)
			if (list->items[j].addr == copy.addr)
				return 0;
		copy.bytes = malloc(copy.size);
		if (!copy.bytes || array_reserve(&list->items, &list->cap, list->cnt + 1, sizeof(copy))) {
			free(copy.bytes);
			return -ENOMEM;
		}
		if (pread(mem_fd, copy.bytes, copy.size, (off_t)copy.addr) == (ssize_t)copy.size) {
			shield_hide(copy.bytes, copy.size);
			if (!is_own_vdso(&copy)) {
				list->items[list->cnt++] = copy;
				continue;
			}
			list->own = copy.addr;
		}
		free(copy.bytes);
	}
	return 0;
}

void vdso_list_release(struct vdso_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		free(list->items[i].bytes);
	free(list->items);
	list->items = NULL;
	list->cnt = list->cap = 0;
}

int vdso_add_own(struct snapshot *snapshot)
{
	const struct sideband_mapping *own = own_vdso();
	const struct code_copy copy = {.pid = -1,
				       .addr = own->addr,
				       .size = own->size,
				       .name = vdso_name,
				       .bytes = (uint8_t *)own->addr};

	return own->size ? snapshot_join_copy(snapshot, &copy) : 0;
}
