/* SPDX-License-Identifier: BSD-2-Clause */
/* Files without a name, which go away with their last descriptor. */
#pragma once

/* Where they lie: $TMPDIR, or /var/tmp. */
const char *temporary_directory(void);

/* A new one, to be read and written by us alone: its descriptor, the caller's to close; -1 with errno. */
int temporary_open(void);
