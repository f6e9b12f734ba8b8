/* SPDX-License-Identifier: BSD-2-Clause */
/* What the sideband says of a process's image: the same for one that runs and for one in a recording. */
#pragma once

#include "image/image.h"
#include "model/sideband.h"

/*
 * Adds a mapping. `path`: where the file can be read now; NULL, or no file's name: nowhere. Else as
 * image_map().
 */
int image_replay_mapping(struct image *image, uint64_t time_ns, const struct sideband_mapping *mapping,
			 const char *path);

/* A mapping or an exec; other records change nothing. time_ns: the record's, or later. 0 or -ENOMEM. */
int image_replay(struct image *image, uint64_t time_ns, const struct sideband_record *record,
		 const char *path);
