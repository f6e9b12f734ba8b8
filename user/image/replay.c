/* SPDX-License-Identifier: BSD-2-Clause */
#include "image/replay.h"

int image_replay_mapping(struct image *image, uint64_t time_ns, const struct sideband_mapping *mapping,
			 const char *path)
{
	const struct image_section section = {
		.addr = mapping->addr,
		.size = mapping->size,
		.file_offset = mapping->file_offset,
		.path = sideband_is_file(mapping->name) ? path : NULL,
		.object = mapping->name,
	};

	return image_map(image, time_ns, &section);
}

int image_replay(struct image *image, uint64_t time_ns, const struct sideband_record *record,
		 const char *path)
{
	if (record->type == PERF_RECORD_MMAP2)
		return image_replay_mapping(image, time_ns, &record->mapping, path);
	return record->type == PERF_RECORD_COMM && record->exec ? image_exec(image, time_ns) : 0;
}
