/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/process_image.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "image/replay.h"
#include "process/maps.h"
#include "source/mapping_events.h"

struct process_image {
	pid_t pid;
	struct image_objects *objects;
	struct image *image;
	struct mapping_events *events;
	struct snapshot *snapshot; /* its sideband: records that are not in the image yet */
	uint64_t known_ns;	   /* up to then, everything is in the image */
	uint64_t last_ns;	   /* of the newest change */
};

int process_image_map(struct image *image, pid_t pid, uint64_t time_ns,
		      const struct sideband_mapping *mapping)
{
	CLEANUP(freep) char *reachable = maps_reachable_name(pid, mapping);

	return image_replay_mapping(image, time_ns, mapping, reachable ? reachable : mapping->name);
}

static int map(struct process_image *process, uint64_t time_ns, const struct sideband_mapping *mapping)
{
	if (time_ns > process->last_ns)
		process->last_ns = time_ns;
	return process_image_map(process->image, process->pid, process->last_ns, mapping);
}

static int replay(struct process_image *process, const struct sideband_record *record)
{
	if (record->type == PERF_RECORD_MMAP2)
		return map(process, record->time_ns, &record->mapping);
	if (record->time_ns > process->last_ns)
		process->last_ns = record->time_ns;
	return image_replay(process->image, process->last_ns, record, NULL);
}

/* Existing mappings. One that is created meanwhile appears twice, which is harmless. */
static int read_maps(struct process_image *process, uint64_t time_ns)
{
	CLEANUP(maps_release) struct maps maps = {0};
	int err = maps_read(&maps, process->pid);

	for (size_t i = 0; i < maps.cnt && !err; i++)
		err = map(process, time_ns, &maps.items[i].mapping);
	return err;
}

int process_image_update(struct process_image *process)
{
	struct sideband_record record;
	uint64_t until = clock_kernel_ns();
	bool lost = false;
	size_t pos = 0;
	int err = mapping_events_take(process->events, process->snapshot, &lost), more = 1;

	while (!err && (more = sideband_next(process->snapshot, &pos, &record)) > 0)
		err = replay(process, &record);
	process->snapshot->sideband_size = 0;
	process->known_ns = until;
	/* If it has ended, nothing more is known. */
	if (!err && !more && lost && read_maps(process, until) == -ENOMEM)
		return -ENOMEM;
	return err ? err : more;
}

int process_image_new(struct process_image **ret_process, pid_t pid, bool is_running)
{
	CLEANUP(process_image_freep) struct process_image *process = calloc(1, sizeof(*process));
	int err;

	if (!process)
		return -ENOMEM;
	process->pid = pid;
	err = image_objects_new(&process->objects);
	if (!err)
		err = image_new(&process->image, process->objects);
	if (!err)
		err = snapshot_new(&process->snapshot);
	if (!err)
		err = mapping_events_open(&process->events, pid);
	if (!err && is_running)
		err = read_maps(process, 0);
	if (err)
		return err;
	*ret_process = TAKE_PTR(process);
	return 0;
}

void process_image_free(struct process_image *process)
{
	if (!process)
		return;
	mapping_events_close(process->events);
	snapshot_free(process->snapshot);
	if (process->image)
		image_free(process->image);
	if (process->objects)
		image_objects_free(process->objects);
	free(process);
}

struct image *process_image_get(const struct process_image *process)
{
	return process->image;
}

struct image_objects *process_image_objects(const struct process_image *process)
{
	return process->objects;
}

int process_image_at(struct process_image *process, uint64_t time_ns, size_t *ret_version)
{
	int err = time_ns > process->known_ns ? process_image_update(process) : 0;

	if (!err)
		*ret_version = image_version_at(process->image, time_ns);
	return err;
}
