/* SPDX-License-Identifier: BSD-2-Clause */
/* Applies sideband records to the image of a process, which may run now or be in a recording. */
#pragma once

#include "image/image.h"
#include "model/sideband.h"

/*
 * Adds a mapping. `path`: where its file, if it is of one, can be read now; NULL: it cannot be read.
 * Errors as image_map().
 */
int image_replay_mapping(struct image *image, uint64_t time_ns, const struct sideband_mapping *mapping,
			 const char *path);

/*
 * Applies a mapping or an exec; other records change nothing. time_ns: the time of the record, or a
 * later one. 0 or -ENOMEM.
 */
int image_replay(struct image *image, uint64_t time_ns, const struct sideband_record *record,
		 const char *path);
