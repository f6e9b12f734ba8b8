/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/code_stores.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "image/binaries.h"
#include "model/sideband.h"
#include "source/jit_files.h"
#include "source/jvm_code.h"

struct code_stores {
	struct code_store_config config;
	struct code_of {
		pid_t pid;
		bool ended;
		struct code_store *store;
		char *jvm; /* NULL: it is none, or was not looked at */
		size_t jvm_size;
	} * items;
	size_t cnt, cap, ended_cnt;
};

int code_stores_new(struct code_stores **ret_stores, const struct code_store_config *config)
{
	struct code_stores *stores = calloc(1, sizeof(*stores));

	if (!stores)
		return -ENOMEM;
	stores->config = *config;
	*ret_stores = stores;
	return 0;
}

static void release(struct code_of *item)
{
	code_store_free(item->store);
	free(item->jvm);
}

void code_stores_free(struct code_stores *stores)
{
	if (!stores)
		return;
	for (size_t i = 0; i < stores->cnt; i++)
		release(&stores->items[i]);
	free(stores->items);
	free(stores);
}

static struct code_of *find(const struct code_stores *stores, pid_t pid)
{
	for (size_t i = 0; i < stores->cnt; i++)
		if (stores->items[i].pid == pid && !stores->items[i].ended)
			return &stores->items[i];
	return NULL;
}

int code_stores_get(struct code_stores *stores, pid_t pid, struct code_store **ret_store)
{
	const struct code_of *found = find(stores, pid);
	struct code_of item = {.pid = pid};
	int err = found ? 0 : code_store_new(&item.store, &stores->config);

	if (!found && !err)
		err = ARRAY_PUSH(stores->items, stores->cnt, stores->cap, item);
	if (err)
		code_store_free(item.store);
	else
		*ret_store = found ? found->store : item.store;
	return err;
}

int code_stores_set_maps(struct code_stores *stores, pid_t pid, const struct maps *before,
			 const struct maps *now)
{
	struct code_store *store;
	int err = code_stores_get(stores, pid, &store);

	return err ? err : code_store_set_maps(store, pid, before, now);
}

/* What it was found to have before stays, if it is gone. */
static int keep(struct code_of *item, uint64_t now)
{
	char *jvm;
	size_t size;
	int err = code_store_keep_private(item->store, now);

	if (!err)
		err = jvm_code_read(item->pid, code_store_maps(item->store), &jvm, &size);
	if (err || !jvm)
		return err;
	free(item->jvm);
	item->jvm = jvm;
	item->jvm_size = size;
	return 0;
}

int code_stores_keep_private(struct code_stores *stores, pid_t pid, uint64_t now)
{
	struct code_of *found = find(stores, pid);

	return found ? keep(found, now) : 0;
}

static int keep_files(const struct code_of *item, struct snapshot *snapshot)
{
	const struct maps *maps = code_store_maps(item->store);
	int err = 0;

	for (size_t i = 0; i < maps->cnt && !err; i++) {
		CLEANUP(freep) char *path = maps_only_way(item->pid, &maps->items[i].mapping);

		if (path)
			err = binaries_keep(snapshot, maps->items[i].mapping.name, path);
	}
	return err;
}

int code_stores_keep_files(struct code_stores *stores, pid_t pid, struct snapshot *snapshot)
{
	int err = 0;

	for (size_t i = 0; i < stores->cnt && !err; i++)
		if (!stores->items[i].ended && (!pid || stores->items[i].pid == pid))
			err = keep_files(&stores->items[i], snapshot);
	return err;
}

/* The older half of those that have ended. */
static void drop_ended(struct code_stores *stores)
{
	size_t kept = 0, left = stores->ended_cnt / 2;

	for (size_t i = 0; i < stores->cnt; i++) {
		if (!stores->items[i].ended || !left) {
			stores->items[kept++] = stores->items[i];
			continue;
		}
		release(&stores->items[i]);
		left--;
	}
	stores->cnt = kept;
	stores->ended_cnt -= stores->ended_cnt / 2;
}

int code_stores_end(struct code_stores *stores, pid_t pid)
{
	struct code_of *found = find(stores, pid);
	int err;

	if (!found)
		return 0;
	found->ended = true;
	err = code_store_end(found->store);
	if (++stores->ended_cnt == 2 * CODE_STORES_ENDED)
		drop_ended(stores);
	return err;
}

static bool has(const struct code_stores *stores, pid_t pid)
{
	for (size_t i = 0; i < stores->cnt; i++)
		if (stores->items[i].pid == pid)
			return true;
	return false;
}

/* Dumps are found by what was mapped, and few programs have one. */
static int copy_dumps(const struct code_stores *stores, struct snapshot *snapshot)
{
	struct sideband_record record;
	size_t pos = 0;
	int err = 0;

	while (!err && sideband_next(snapshot, &pos, &record) > 0)
		if (record.type == PERF_RECORD_MMAP2 && jit_files_is_dump(record.mapping.name) &&
		    has(stores, record.pid))
			err = jit_files_copy_dump(snapshot, record.pid, record.mapping.name);
	return err;
}

/* Of this item it is the snapshot's from then on. */
static int export_jvm(struct code_of *item, struct snapshot *snapshot)
{
	size_t size = item->jvm_size;

	item->jvm_size = 0;
	return size ? snapshot_take_copy(snapshot, item->pid, 0, JIT_JVM, (uint8_t *)TAKE_PTR(item->jvm),
					 size)
		    : 0;
}

int code_stores_export(struct code_stores *stores, uint64_t now, struct snapshot *snapshot)
{
	int err = 0;

	for (size_t i = 0; i < stores->cnt && !err; i++) {
		struct code_of *item = &stores->items[i];

		if (now && !item->ended)
			err = keep(item, now);
		if (!err)
			err = code_store_export(item->store, snapshot);
		if (!err)
			err = jit_files_copy_map(snapshot, item->pid);
		if (!err)
			err = export_jvm(item, snapshot);
	}
	return err ? err : copy_dumps(stores, snapshot);
}
