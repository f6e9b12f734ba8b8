/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens regular files only. The names come from a recording, another process or a directory that others can
 * write to; a FIFO there must not block trailcam.
 */
#pragma once

#include <stdio.h>

/*
 * Opens `path` for reading. Returns the descriptor or -errno, and sets errno, too: errors of open(2);
 * -EINVAL: not a regular file.
 */
int plain_file_open(const char *path);

/* The same as a stream; NULL with errno on failure. */
FILE *plain_file_stream(const char *path);
