/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A uprobe_multi link takes all probes of one file that run one program; a perf uprobe is one probe in one
 * event. Perf events are not inherited (attr.inherit): the kernel then reads the probed file's path again in
 * the target's memory at each of its fork()s and makes them fail. Threads are covered all the same, since
 * breakpoints belong to the address space.
 *
 * A separate process attaches the probes and holds them (process/keeper.h), so that SIGKILL of any of our
 * processes removes them in good order.
 */
#include "trigger/links.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "bpf/rule.h"
#include "probe/probe_map.h"
#include "process/keeper.h"
#include "trigger/perf_uprobe.h"
#include "trigger/privilege.h"
#include "trigger/uprobe_multi.h"

/* "Not supported" inside the kernel; leaks to user space for instructions that cannot be probed. */
enum { KERNEL_ENOTSUPP = 524 };

/* ---- the plan ---- */

static struct probe_group *find_group(struct links *links, const char *path, int prog_fd, enum uprobe_at at)
{
	for (size_t i = 0; i < links->group_cnt; i++) {
		struct probe_group *group = &links->groups[i];

		if (group->prog_fd == prog_fd && group->at == at && !strcmp(group->path, path))
			return group;
	}
	return NULL;
}

static int grow(struct probe_group *group)
{
	size_t cap = group->cap ? 2 * group->cap : 16;
	uint64_t **arrays[] = {&group->offsets, &group->cookies, &group->ref_ctr_offsets};

	if (group->cnt < group->cap)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		uint64_t *moved = reallocarray(*arrays[i], cap, sizeof(*moved));

		if (!moved)
			return -ENOMEM;
		*arrays[i] = moved;
	}
	group->cap = cap;
	return 0;
}

int links_plan_probe(struct links *links, const struct probe *probe, uint64_t cookie, int prog_fd,
		     enum uprobe_at at)
{
	struct probe_group *group = find_group(links, probe->path, prog_fd, at);

	if (!group) {
		struct probe_group empty = {probe->path, probe->symbol, prog_fd, at, NULL, NULL, NULL, 0, 0};

		if (ARRAY_PUSH(links->groups, links->group_cnt, links->group_cap, empty))
			return -ENOMEM;
		group = &links->groups[links->group_cnt - 1];
	}
	if (grow(group))
		return -ENOMEM;
	group->offsets[group->cnt] = probe->file_offset;
	group->cookies[group->cnt] = cookie;
	group->ref_ctr_offsets[group->cnt] = probe->ref_ctr_offset;
	group->cnt++;
	return 0;
}

/* The same probe once more, on the `nth` nop of the mirror. */
static int plan_in_mirror(struct links *links, const struct probe_mirror *mirror, size_t nth,
			  const struct probe *probe, uint64_t cookie, int prog_fd)
{
	struct probe other = *probe;

	if (nth >= mirror->max)
		return fail(-E2BIG,
			    "these are more than %zu probes, which is what a translated program can have",
			    mirror->max);
	other.path = (char *)mirror->path;
	other.file_offset = mirror->file_offset + nth * mirror->distance;
	other.ref_ctr_offset = 0;
	return links_plan_probe(links, &other, cookie, prog_fd, UPROBE_ENTRY);
}

/*
 * Each probe has a program by what is done there. A return instruction alone gives hits at returns: a jump
 * does not show where it leads.
 */
static int plan_probe(struct links *links, const struct programs *programs,
		      const struct trigger_config *config, size_t i, size_t j)
{
	static const enum program_role roles[] = {
		[PROBE_HIT] = PROGRAM_HIT,
		[PROBE_CALL_BEGIN] = PROGRAM_CALL_BEGIN,
		[PROBE_CALL_END] = PROGRAM_CALL_END,
	};
	const struct trigger *trigger = &config->triggers[i];
	const struct probe *probe = &trigger->probes[j];
	bool returns = probe->at == PROBE_CALL_END && !(probe->place & (PLACE_JUMP | PLACE_SPAN));
	uint64_t action = trigger->action | (returns ? HIT_RETURN : 0);
	uint64_t layout = programs_layout(programs, i, probe);
	uint64_t cookie = i | layout << COOKIE_LAYOUT_SHIFT | action << COOKIE_ACTION_SHIFT |
			  (uint64_t)probe->place << COOKIE_PLACE_SHIFT;
	int prog_fd = programs_fd(programs, i, roles[probe->at]);
	const struct probe_map map = {config->triggers, config->trigger_cnt};
	int err = links_plan_probe(links, probe, cookie, prog_fd, UPROBE_ENTRY);

	if (err || !config->mirror)
		return err;
	return plan_in_mirror(links, config->mirror, probe_map_first(&map, probe), probe, cookie, prog_fd);
}

static int plan_all(struct links *links, const struct programs *programs, const struct trigger_config *config,
		    size_t i, bool ends)
{
	const struct trigger *trigger = &config->triggers[i];
	int err = 0;

	for (size_t j = 0; j < trigger->probe_cnt && !err; j++)
		if ((trigger->probes[j].at == PROBE_CALL_END) == ends)
			err = plan_probe(links, programs, config, i, j);
	return err;
}

int links_plan(struct links *links, const struct programs *programs, const struct trigger_config *config)
{
	int err = 0;

	for (size_t i = 0; i < config->trigger_cnt && !err; i++) {
		err = plan_all(links, programs, config, i, false);
		if (!err)
			err = plan_all(links, programs, config, i, true);
	}
	return err;
}

/* ---- attaching ---- */

static int fail_attach(int err, const struct probe_group *group, pid_t pid)
{
	switch (err) {
	case -EMFILE:
		return privilege_fail_descriptors();
	case -KERNEL_ENOTSUPP:
	case -EOPNOTSUPP:
	case -ENOEXEC:
		return fail(-ENOTSUP,
			    "the kernel cannot probe the first instruction of %s%s in %s: name a "
			    "later one (SYM+OFF)",
			    group->symbol, group->cnt > 1 ? " or of another function" : "", group->path);
	case -ESRCH:
		return fail(err, "there is no process %d", pid);
	case -E2BIG:
		return fail(err, "%zu probes in %s are more than one uprobe_multi link takes (2^20)",
			    group->cnt, group->path);
	case -ENOMEM:
		return fail(err, "no memory for %zu probes in %s", group->cnt, group->path);
	default:
		return fail_errno(err, "cannot put a probe on %s in %s", group->symbol, group->path);
	}
}

struct attachment {
	const struct links *links;
	pid_t pid;
};

static int check_cancelled(const struct keeper *keeper)
{
	return keeper->is_cancelled ? fail(-ECANCELED, "interrupted while probes were set") : 0;
}

static int attach_group(struct keeper *keeper, const struct probe_group *group, pid_t pid)
{
	const struct uprobe_multi multi = {
		.prog_fd = group->prog_fd,
		.path = group->path,
		.offsets = group->offsets,
		.cookies = group->cookies,
		.ref_ctr_offsets = group->ref_ctr_offsets,
		.cnt = group->cnt,
		.pid = pid,
		.at = group->at,
	};
	int fd;
	int err = uprobe_multi_open(&fd, &multi);

	if (err == -EPERM)
		return privilege_fail_bpf();
	return err ? fail_attach(err, group, pid) : keeper_keep(keeper, fd);
}

static int attach_multi(struct keeper *keeper, void *ctx)
{
	const struct attachment *attachment = ctx;
	const struct links *links = attachment->links;
	int err = 0;

	for (size_t i = 0; i < links->group_cnt && !err; i++) {
		err = check_cancelled(keeper);
		if (!err)
			err = attach_group(keeper, &links->groups[i], attachment->pid);
	}
	return err;
}

int links_attach_multi(struct links *links, pid_t pid)
{
	struct attachment attachment = {links, pid};

	return keeper_start(&links->keeper, attach_multi, &attachment);
}

static int attach_perf(struct keeper *keeper, const struct probe_group *group, size_t i, pid_t pid)
{
	const struct perf_uprobe probe = {
		.prog_fd = group->prog_fd,
		.path = group->path,
		.offset = group->offsets[i],
		.cookie = group->cookies[i],
		.ref_ctr_offset = group->ref_ctr_offsets[i],
		.pid = pid,
		.at_return = group->at == UPROBE_RETURN,
	};
	int event, link;
	int err = perf_uprobe_open(&event, &link, &probe);

	if (err == -EPERM || err == -EACCES)
		return privilege_fail_perf_uprobe();
	if (err)
		return fail_attach(err, group, pid);
	err = keeper_keep(keeper, event);
	return err ? err : keeper_keep(keeper, link);
}

/*
 * The kernel waits for all processors with each of them when it goes, some 100 ms, and lets nobody else do
 * so at that time.
 */
static int check_perf_probe_cnt(const struct links *links)
{
	enum { PERF_PROBES_MAX = 256 };
	size_t cnt = 0;

	for (size_t i = 0; i < links->group_cnt; i++)
		cnt += links->groups[i].cnt;
	return cnt <= PERF_PROBES_MAX
		       ? 0
		       : fail(-E2BIG,
			      "%zu probes are too many for perf uprobes, which are taken out one by one, "
			      "some ten a second: at most %d; name fewer functions, or use --attach-via "
			      "uprobe_multi",
			      cnt, PERF_PROBES_MAX);
}

static int attach_all_perf(struct keeper *keeper, void *ctx)
{
	const struct attachment *attachment = ctx;
	const struct links *links = attachment->links;
	int err = 0;

	for (size_t i = 0; i < links->group_cnt && !err; i++) {
		for (size_t j = 0; j < links->groups[i].cnt && !err; j++) {
			err = check_cancelled(keeper);
			if (!err)
				err = attach_perf(keeper, &links->groups[i], j, attachment->pid);
		}
	}
	return err;
}

int links_attach_perf(struct links *links, pid_t pid)
{
	struct attachment attachment = {links, pid};
	int too_many = check_perf_probe_cnt(links);

	return too_many ? too_many : keeper_start(&links->keeper, attach_all_perf, &attachment);
}

/* ---- the end ---- */

void links_begin_end(struct links *links)
{
	keeper_begin_end(&links->keeper);
}

void links_detach(struct links *links)
{
	keeper_end(&links->keeper, -1);
}

void links_let_go(struct links *links)
{
	enum { PATIENCE_MS = 2000 };

	if (!keeper_end(&links->keeper, PATIENCE_MS))
		log_say("the kernel takes the probes out one by one: the last of them will be gone in a "
			"while");
}

void links_release(struct links *links)
{
	links_let_go(links);
	for (size_t i = 0; i < links->group_cnt; i++) {
		free(links->groups[i].offsets);
		free(links->groups[i].cookies);
		free(links->groups[i].ref_ctr_offsets);
	}
	free(links->groups);
	*links = (struct links){0};
}
