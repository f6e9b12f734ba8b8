/* SPDX-License-Identifier: BSD-2-Clause */
#include "timeline/profile_diff.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/sort.h"

struct shown_path {
	bool is_shown;
	size_t first_child, next_sibling; /* PROFILE_ROOT: none */
};

struct ranked {
	uint64_t difference;
	size_t path;
};

int64_t profile_difference(const struct profile_path *path)
{
	return (int64_t)(path->sides[0].total_ns - path->sides[1].total_ns);
}

/* The greatest first; among equals, callers before what they call. */
static int compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	return ORDER_DOWN(a->difference, b->difference) ?: ORDER_UP(a->path, b->path);
}

/* Every path but the root, the greatest difference first. NULL: no memory. */
static struct ranked *rank(const struct profile *profile)
{
	struct ranked *ranked = calloc(profile->path_cnt, sizeof(*ranked));

	for (size_t i = 1; ranked && i < profile->path_cnt; i++) {
		int64_t difference = profile_difference(&profile->paths[i]);

		ranked[i - 1].path = i;
		ranked[i - 1].difference = difference < 0 ? -(uint64_t)difference : (uint64_t)difference;
	}
	if (ranked)
		sort_array(ranked, profile->path_cnt - 1, sizeof(*ranked), compare);
	return ranked;
}

/* How many paths are shown, callers included. */
static size_t mark(const struct profile *profile, const struct ranked *ranked, size_t top,
		   struct shown_path *nodes)
{
	size_t cnt = 0;

	for (size_t i = 0; i < top && i + 1 < profile->path_cnt && ranked[i].difference; i++)
		for (size_t path = ranked[i].path; path != PROFILE_ROOT && !nodes[path].is_shown;
		     path = profile->paths[path].parent) {
			nodes[path].is_shown = true;
			cnt++;
		}
	return cnt;
}

/* From the least difference to the greatest, so that the greatest comes to stand first. */
static void link_children(const struct profile *profile, const struct ranked *ranked,
			  struct shown_path *nodes)
{
	for (size_t i = profile->path_cnt - 1; i-- > 0;) {
		size_t path = ranked[i].path, parent = profile->paths[path].parent;

		if (!nodes[path].is_shown)
			continue;
		nodes[path].next_sibling = nodes[parent].first_child;
		nodes[parent].first_child = path;
	}
}

static size_t next_in_tree(const struct profile *profile, const struct shown_path *nodes, size_t path)
{
	if (nodes[path].first_child != PROFILE_ROOT)
		return nodes[path].first_child;
	while (path != PROFILE_ROOT && nodes[path].next_sibling == PROFILE_ROOT)
		path = profile->paths[path].parent;
	return path == PROFILE_ROOT ? PROFILE_ROOT : nodes[path].next_sibling;
}

static size_t count_different(const struct profile *profile, const struct shown_path *nodes)
{
	size_t cnt = 0;

	for (size_t i = 1; i < profile->path_cnt; i++)
		cnt += !nodes[i].is_shown && profile_difference(&profile->paths[i]);
	return cnt;
}

int profile_diff(const struct profile *profile, size_t top, size_t **ret_paths, size_t *ret_cnt,
		 size_t *ret_left_out)
{
	struct shown_path *nodes = calloc(profile->path_cnt, sizeof(*nodes));
	struct ranked *ranked = rank(profile);
	size_t *paths = NULL, cnt = 0;

	if (nodes && ranked) {
		cnt = mark(profile, ranked, top, nodes);
		paths = calloc(cnt + 1, sizeof(*paths));
	}
	if (paths) {
		link_children(profile, ranked, nodes);
		for (size_t i = 0, path = PROFILE_ROOT; i < cnt; i++)
			paths[i] = path = next_in_tree(profile, nodes, path);
		*ret_paths = paths;
		*ret_cnt = cnt;
		*ret_left_out = count_different(profile, nodes);
	}
	free(nodes);
	free(ranked);
	return paths ? 0 : -ENOMEM;
}
