/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sections at the end of our own part of a recording, one for each kind of source that has something to
 * say there. Each has its name, its version and its size in front, so that another trailcam passes over what
 * it does not know, and can say which version does not fit.
 */
#pragma once

#include <stdio.h>

#include "model/snapshot.h"

/* Those that the snapshot has something for. Failures are the file's. */
void sections_write(const struct snapshot *snapshot, FILE *file);

/* 0; -ENOMEM; with a sentence: -EBADMSG, damaged; -ENOTSUP, a known section of another version. */
int sections_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size);
