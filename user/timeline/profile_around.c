/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each path is a caller and what it called, so the sums come from the paths. A path that leads twice through
 * the same pair counts its time at the outer one.
 */
#include <stdlib.h>
#include <string.h>

#include "timeline/profile.h"

static bool is_named(const struct profile *profile, size_t path, const char *name)
{
	return path != PROFILE_ROOT && !strcmp(profile->functions[profile->paths[path].function].name, name);
}

/* The function that stands beside the named one where the path ends; function_cnt: nothing called it. */
static size_t neighbour(const struct profile *profile, size_t path, bool callees)
{
	size_t parent = profile->paths[path].parent;

	if (callees)
		return profile->paths[path].function;
	return parent == PROFILE_ROOT ? profile->function_cnt : profile->paths[parent].function;
}

/* Whether the path ends in a call by, or of, the named function. */
static bool is_call(const struct profile *profile, size_t path, const char *name, bool callees)
{
	return path != PROFILE_ROOT && is_named(profile, callees ? profile->paths[path].parent : path, name);
}

static bool is_within(const struct profile *profile, size_t path, const char *name, bool callees)
{
	size_t beside = neighbour(profile, path, callees);

	for (size_t at = profile->paths[path].parent; at != PROFILE_ROOT; at = profile->paths[at].parent)
		if (is_call(profile, at, name, callees) &&
		    (!callees || neighbour(profile, at, callees) == beside))
			return true;
	return false;
}

struct profile_sum *profile_around(const struct profile *profile, const char *name, bool callees)
{
	struct profile_sum *sums = calloc(profile->function_cnt + 1, sizeof(*sums));

	for (size_t path = 0; sums && path < profile->path_cnt; path++) {
		const struct profile_sum *from = &profile->paths[path].sides[0];
		struct profile_sum *to;

		if (!is_call(profile, path, name, callees))
			continue;
		to = &sums[neighbour(profile, path, callees)];
		to->calls += from->calls;
		if (is_within(profile, path, name, callees))
			continue;
		to->total_ns += from->total_ns;
		to->sampled_total_ns += from->sampled_total_ns;
	}
	return sums;
}
