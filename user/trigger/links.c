/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A uprobe_multi link takes all probes of one file that run one program; a perf uprobe is one probe in one
 * event. Perf events are not inherited (attr.inherit): the kernel then reads the probed file's path again in
 * the target's memory at each of its fork()s and makes them fail. Threads are covered all the same, since
 * breakpoints belong to the address space.
 *
 * Linux gives up taking a breakpoint out on behalf of a process that SIGKILL is waiting for ("failed to
 * unregister, leaking uprobe"), and who executes that breakpoint then dies. So a process of its own
 * (process/aside.h) attaches and detaches.
 */
#include "trigger/links.h"

#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "bpf/rule.h"
#include "process/aside.h"
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

/*
 * Each probe has a program by what is done there. A return instruction alone gives hits at returns: a jump
 * does not show where it leads.
 */
static int plan_probe(struct links *links, const struct programs *programs, const struct trigger *trigger,
		      size_t i, const struct probe *probe)
{
	static const enum program_role roles[] = {
		[PROBE_HIT] = PROGRAM_HIT,
		[PROBE_CALL_BEGIN] = PROGRAM_CALL_BEGIN,
		[PROBE_CALL_END] = PROGRAM_CALL_END,
	};
	bool returns = probe->at == PROBE_CALL_END && !(probe->place & (PLACE_JUMP | PLACE_SPAN));
	uint64_t action = trigger->action | (returns ? HIT_RETURN : 0);
	uint64_t layout = programs_layout(programs, i, probe);
	uint64_t cookie = i | layout << COOKIE_LAYOUT_SHIFT | action << COOKIE_ACTION_SHIFT |
			  (uint64_t)probe->place << COOKIE_PLACE_SHIFT;

	return links_plan_probe(links, probe, cookie, programs_fd(programs, i, roles[probe->at]),
				UPROBE_ENTRY);
}

static int plan_all(struct links *links, const struct programs *programs, const struct trigger *trigger,
		    size_t i, bool ends)
{
	int err = 0;

	for (size_t j = 0; j < trigger->probe_cnt && !err; j++)
		if ((trigger->probes[j].at == PROBE_CALL_END) == ends)
			err = plan_probe(links, programs, trigger, i, &trigger->probes[j]);
	return err;
}

int links_plan(struct links *links, const struct programs *programs, const struct trigger *triggers,
	       size_t trigger_cnt)
{
	int err = 0;

	for (size_t i = 0; i < trigger_cnt && !err; i++) {
		err = plan_all(links, programs, &triggers[i], i, false);
		if (!err)
			err = plan_all(links, programs, &triggers[i], i, true);
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
	struct links *links;
	pid_t pid;
};

static int attach_multi(void *ctx)
{
	struct links *links = ((struct attachment *)ctx)->links;
	pid_t pid = ((struct attachment *)ctx)->pid;

	for (size_t i = 0; i < links->group_cnt; i++) {
		const struct probe_group *group = &links->groups[i];
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
		int fd, err;

		if (array_reserve(&links->fds, &links->fd_cap, links->fd_cnt + 1, sizeof(*links->fds)))
			return -ENOMEM;
		err = uprobe_multi_open(&fd, &multi);
		if (err == -EPERM)
			return privilege_fail_bpf();
		if (err)
			return fail_attach(err, group, pid);
		links->fds[links->fd_cnt++] = fd;
	}
	return 0;
}

int links_attach_multi(struct links *links, pid_t pid)
{
	struct attachment attachment = {links, pid};

	return aside(attach_multi, &attachment);
}

static int attach_perf(struct links *links, const struct probe_group *group, size_t i, pid_t pid)
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
	int err;

	if (array_reserve(&links->fds, &links->fd_cap, links->fd_cnt + 2, sizeof(*links->fds)))
		return -ENOMEM;
	err = perf_uprobe_open(&links->fds[links->fd_cnt], &links->fds[links->fd_cnt + 1], &probe);
	if (err == -EPERM || err == -EACCES)
		return privilege_fail_perf_uprobe();
	if (err)
		return fail_attach(err, group, pid);
	links->fd_cnt += 2;
	return 0;
}

/*
 * The kernel waits for all processors with each of them, when it comes and when it goes, and nothing can end
 * that.
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
			      "%zu probes are too many for perf uprobes, which are set one by one, some ten "
			      "a second: at "
			      "most %d; name fewer functions, or use --attach-via uprobe_multi",
			      cnt, PERF_PROBES_MAX);
}

static int attach_all_perf(void *ctx)
{
	struct links *links = ((struct attachment *)ctx)->links;
	pid_t pid = ((struct attachment *)ctx)->pid;

	for (size_t i = 0; i < links->group_cnt; i++) {
		for (size_t j = 0; j < links->groups[i].cnt; j++) {
			int err = attach_perf(links, &links->groups[i], j, pid);

			if (err)
				return err;
		}
	}
	return 0;
}

int links_attach_perf(struct links *links, pid_t pid)
{
	struct attachment attachment = {links, pid};
	int too_many = check_perf_probe_cnt(links);

	return too_many ? too_many : aside(attach_all_perf, &attachment);
}

/* ---- the end ---- */

/* Returns first: a call whose return is no longer probed must not be remembered. */
static int detach(void *ctx)
{
	struct links *links = ctx;

	while (links->fd_cnt)
		close(links->fds[--links->fd_cnt]);
	return 0;
}

void links_detach(struct links *links)
{
	if (links->fd_cnt)
		aside(detach, links);
}

void links_release(struct links *links)
{
	links_detach(links);
	for (size_t i = 0; i < links->group_cnt; i++) {
		free(links->groups[i].offsets);
		free(links->groups[i].cookies);
		free(links->groups[i].ref_ctr_offsets);
	}
	free(links->groups);
	free(links->fds);
	*links = (struct links){0};
}
