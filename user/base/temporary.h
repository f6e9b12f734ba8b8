/* SPDX-License-Identifier: BSD-2-Clause */
/* Unlinked files: the kernel removes them with their last descriptor. */
#pragma once

/* Their directory: $TMPDIR, or /var/tmp. */
const char *temporary_directory(void);

/*
 * A new file for reading and writing, for us alone. The descriptor is the caller's to close; -1 with errno on
 * failure.
 */
int temporary_open(void);
