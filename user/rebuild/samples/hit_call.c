/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hit at a return has the place behind the call, and the time when the call began. Which function it was
 * follows from the trigger, if that has one function only. A goroutine may have begun the call in another
 * thread.
 */
#include "rebuild/samples/hit_call.h"

#include <string.h>

#include "base/file/path.h"

bool hit_call_is_known(const struct hit *hit)
{
	return hit_has_registers(hit) && hit_is_return(hit) && hit->begin_ns < hit->time_ns &&
	       !hit->goroutine;
}

/* The only function of the trigger; NULL: there are several, or none. */
static const struct probe_place *only_place(const struct snapshot *snapshot, uint32_t trigger)
{
	const struct probe_place *only = NULL;

	for (size_t i = 0; i < snapshot->place_cnt; i++) {
		const struct probe_place *place = &snapshot->places[i];

		if (place->trigger != trigger || !*place->function)
			continue;
		if (only)
			return NULL;
		only = place;
	}
	return only;
}

/* Directories are not compared, because a container's files have another path outside. */
static bool is_of(const struct image_section *section, const struct probe_place *place)
{
	return section->object && !strcmp(path_name(section->object), path_name(place->path)) &&
	       place->file_offset - section->file_offset < section->size;
}

uint64_t hit_call_ip(struct history *history, const struct snapshot *snapshot, const struct hit *hit)
{
	const struct probe_place *place = only_place(snapshot, hit->trigger);
	const struct history_process *process = history_process(history, (int32_t)hit->pid);
	uint64_t time_ns = trace_clock_from_monotonic(&snapshot->clock, hit->time_ns);

	if (!place || !process)
		return 0;
	IMAGE_FOR_EACH_SECTION (section, process->image, image_version_at(process->image, time_ns)) {
		if (is_of(section, place))
			return section->addr + (place->file_offset - section->file_offset);
	}
	return 0;
}
