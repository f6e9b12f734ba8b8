/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening files whose names come out of a recording, from another process or from a directory that others
 * write to: one that is no plain file (a pipe that nobody writes into) must not make us wait.
 */
#pragma once

#include <stdio.h>

/*
 * Opens it to be read. The descriptor, or -errno, which errno has, too: of open(2); -EINVAL: it is no plain
 * file.
 */
int plain_file_open(const char *path);

/* The same as a stream; NULL with errno. */
FILE *plain_file_stream(const char *path);
