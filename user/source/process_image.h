/* SPDX-License-Identifier: BSD-2-Clause */
/* The image of a running process, kept up to date from the kernel's records. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "image/image.h"

struct process_image;

/*
 * `is_running`: the process has mapped its libraries; else it has not exec'd yet. 0, or -errno with a
 * sentence.
 */
int process_image_new(struct process_image **ret_process, pid_t pid, bool is_running);
void process_image_free(struct process_image *process);

struct image *process_image_get(const struct process_image *process);

/*
 * Reads new mappings. To be called regularly, because the kernel's ring is small and all processes share it.
 * 0 or -ENOMEM.
 */
int process_image_update(struct process_image *process);

/* The image's version at time_ns of CLOCK_MONOTONIC, with everything mapped until then. 0 or -ENOMEM. */
int process_image_at(struct process_image *process, uint64_t time_ns, size_t *ret_version);

/* Adds a mapping of the process to its image; as image_map(). */
struct sideband_mapping;
int process_image_map(struct image *image, pid_t pid, uint64_t time_ns,
		      const struct sideband_mapping *mapping);

/* The objects of the image, for object_get(). */
struct image_objects *process_image_objects(const struct process_image *process);

DEFINE_CLEANUP(struct process_image *, process_image_free)
