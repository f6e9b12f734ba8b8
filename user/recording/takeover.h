/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which directory a recording may replace: an empty one, or an older recording of ours. trailcam removes no
 * other files of the user.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether the directory is empty, or holds exactly what recording_save() writes, judged by the content of
 * `data`, not by names alone.
 */
bool takeover_is_safe(const char *path);

/*
 * Removes a recording's files and the directory. False: the directory stays, because another file is in it.
 */
bool takeover_remove(const char *path);
