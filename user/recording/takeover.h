/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which directory a recording may replace: an empty one, or an older recording of ours. Nothing else of the
 * user's is ever removed.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether the directory holds nothing, or exactly what recording_save() writes: known by the content of
 * `data`, not by names alone.
 */
bool takeover_is_safe(const char *path);

/*
 * Removes a recording's files and the directory. False: a file stays that is none of a recording's, and so
 * does the directory.
 */
bool takeover_remove(const char *path);
