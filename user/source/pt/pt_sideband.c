/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/pt/pt_sideband.h"

#include "base/cleanup.h"
#include "model/sideband.h"
#include "process/maps.h"
#include "process/proc_status.h"

/* Hands over what was put together as a snapshot's sideband. */
static int hand_over(struct record_list *records, const struct snapshot *from)
{
	return record_list_add_all(records, from->sideband, from->sideband_size);
}

int pt_sideband_tell(struct record_list *records, pid_t pid, uint64_t now)
{
	CLEANUP(maps_release) struct maps maps = {0};
	CLEANUP(snapshot_freep) struct snapshot *past = NULL;
	char name[64];
	int err = maps_read(&maps, pid);

	if (!err)
		err = snapshot_new(&past);
	if (err)
		return err;
	for (size_t i = 0; i < maps.cnt && !err; i++)
		err = sideband_add_mmap(past, pid, pid, now, &maps.items[i].mapping);
	if (!err && !proc_status_text(pid, "Name", name, sizeof(name)))
		err = sideband_add_comm(past, pid, pid, now, name, 0);
	return err ? err : hand_over(records, past);
}

int pt_sideband_name(struct record_list *records, pid_t pid, pid_t tid, uint64_t now)
{
	CLEANUP(snapshot_freep) struct snapshot *past = NULL;
	char name[64];
	int err;

	if (tid == pid || proc_status_text(tid, "Name", name, sizeof(name)))
		return 0;
	err = snapshot_new(&past);
	if (!err)
		err = sideband_add_comm(past, pid, tid, now, name, 0);
	return err ? err : hand_over(records, past);
}

int pt_sideband_add_mapping(struct record_list *records, const struct perf_event_header *record)
{
	CLEANUP(snapshot_freep) struct snapshot *renamed = NULL;
	struct snapshot one = {.sideband = (uint8_t *)record, .sideband_size = record->size};
	CLEANUP(freep) char *name = NULL;
	struct sideband_record parsed;
	size_t pos = 0;
	int err;

	if (sideband_next(&one, &pos, &parsed) <= 0)
		return 0;
	name = maps_reachable_name(parsed.pid, &parsed.mapping);
	if (!name)
		return record_list_add(records, record);
	parsed.mapping.name = name;
	err = snapshot_new(&renamed);
	if (!err)
		err = sideband_add_mmap(renamed, parsed.pid, parsed.tid, parsed.time_ns, &parsed.mapping);
	return err ? err : hand_over(records, renamed);
}
