/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the mapped files of a recording on this machine. The recording knows files by name and mostly by
 * build-id. A file with another build-id would give wrong code, so it is not used.
 */
#pragma once

#include "base/cleanup.h"
#include "model/snapshot.h"

struct binaries;

/* `symfs`: a directory that holds the traced machine's files, or NULL. Both must outlive it. */
int binaries_new(struct binaries **ret_binaries, const struct snapshot *snapshot, const char *symfs);
void binaries_free(struct binaries *binaries);

/*
 * The path of the file that was mapped as `name`: below symfs, among the recording's copies, under its own
 * name, or in the build-id caches of perf (~/.debug) and debuginfod. *ret_path is NULL if there is none; a
 * file of another build gives one warning. 0 or -ENOMEM.
 */
int binaries_find(struct binaries *binaries, const char *name, const char **ret_path);

/*
 * Appends a copy of the file that was mapped as `name` and stands at `path` now, and its build-id, unless
 * they are there already. For files that will not be found later. 0 or -ENOMEM.
 */
int binaries_keep(struct snapshot *snapshot, const char *name, const char *path);

/* Appends the current build-ids of all mapped files. 0 or -ENOMEM. */
int binaries_note_build_ids(struct snapshot *snapshot);

DEFINE_CLEANUP(struct binaries *, binaries_free)
