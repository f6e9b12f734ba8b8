/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the bytes of a mapped file are now. The recording knows files by name and, mostly, by build-id:
 * another build under the same name would be decoded into nonsense, and is not used.
 */
#pragma once

#include "base/cleanup.h"
#include "model/snapshot.h"

struct binaries;

/* `symfs`: a directory that holds the traced machine's files, or NULL. Both must outlive it. */
int binaries_new(struct binaries **ret_binaries, const struct snapshot *snapshot, const char *symfs);
void binaries_free(struct binaries *binaries);

/*
 * A path to the file that was mapped under `name`: below symfs, else under that name, else in perf's
 * (~/.debug) or debuginfod's cache of build-ids. *ret_path is NULL where there is none, of which a file that
 * is another build is warned of once. 0 or -ENOMEM.
 */
int binaries_find(struct binaries *binaries, const char *name, const char **ret_path);

/* Appends the build-ids of all files that are mapped, as they are now. 0 or -ENOMEM. */
int binaries_note_build_ids(struct snapshot *snapshot);

DEFINE_CLEANUP(struct binaries *, binaries_free)
