/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "timeline/profile.h"

/* By how much more time the path has on side 0 than on side 1. */
int64_t profile_difference(const struct profile_path *path);

/*
 * The paths in which the sides of a profile differ most, `top` of them at most, with the paths that lead to
 * them: as a tree, callers before what they call, and of what one calls the greatest difference first.
 * Without PROFILE_ROOT. *ret_left_out is how many others differ. 0 or -ENOMEM. *ret_paths, indices of paths,
 * is the caller's.
 */
int profile_diff(const struct profile *profile, size_t top, size_t **ret_paths, size_t *ret_cnt,
		 size_t *ret_left_out);
