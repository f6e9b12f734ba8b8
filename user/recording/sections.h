/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sections at the end of our own part of a recording, one for each kind of source. Each begins with its
 * name, version and size, so another trailcam can skip unknown sections and say which version does not fit.
 */
#pragma once

#include <stdio.h>

#include "model/snapshot.h"

/* Writes the sections for which the snapshot has data. Errors are in ferror(file). */
void sections_write(const struct snapshot *snapshot, FILE *file);

/*
 * Reads the sections. 0; -ENOMEM; with a sentence: -EBADMSG: damaged; -ENOTSUP: a known section of another
 * version.
 */
int sections_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size);

/* 0, or -ENOTSUP with a sentence: this version of a part of a recording is not the one that is known here. */
int section_check_version(const char *part, uint32_t version, uint32_t known);
