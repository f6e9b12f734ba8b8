/* SPDX-License-Identifier: BSD-2-Clause */
/* The image of a process that runs, kept up to date from the kernel's records. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "image/image.h"

struct process_image;

/* The process runs, and has mapped its libraries; else it has not exec'd yet. -errno with a sentence. */
int process_image_new(struct process_image **ret_process, pid_t pid, bool is_running);
void process_image_free(struct process_image *process);

struct image *process_image_get(const struct process_image *process);

/*
 * Takes what was mapped since. To be called now and then, though nothing be asked for: the kernel keeps only
 * so much, of all processes. 0 or -ENOMEM.
 */
int process_image_update(struct process_image *process);

/* The version in force at time_ns of CLOCK_MONOTONIC, with all that was mapped until then. 0 or -ENOMEM. */
int process_image_at(struct process_image *process, uint64_t time_ns, size_t *ret_version);

/* Adds a mapping of the process to its image; as image_map(). */
struct sideband_mapping;
int process_image_map(struct image *image, pid_t pid, uint64_t time_ns,
		      const struct sideband_mapping *mapping);

/* As object_get(): the objects of the image. */
struct image_objects *process_image_objects(const struct process_image *process);

DEFINE_CLEANUP(struct process_image *, process_image_free)
