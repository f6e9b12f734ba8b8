/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A uprobe_multi link takes all probes of one file, so they are grouped by path; a perf uprobe is one probe in one event. Perf events are not
 * inherited (attr.inherit): the kernel then reads the probed file's path again in the target's memory at each of its fork()s
 * and makes them fail. Threads are covered all the same, since breakpoints belong to the address space.
 */
#include "trigger/links.h"

#include <string.h>

#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/error.h"
#include "trigger/privilege.h"
#include "trigger/uprobe_multi.h"

/* "Not supported" inside the kernel; leaks to user space for instructions that cannot be probed. */
enum { KERNEL_ENOTSUPP = 524 };

/* ---- the plan ---- */

static struct probed_file *find_file(struct links *links, const char *path)
{
	for (size_t i = 0; i < links->file_cnt; i++)
		if (!strcmp(links->files[i].path, path))
			return &links->files[i];
	return NULL;
}

/* A file with room for `cap` probes. */
static struct probed_file *add_file(struct links *links, const struct probe *probe, size_t cap)
{
	struct probed_file file = {.path = probe->path, .symbol = probe->symbol};

	file.offsets = calloc(cap, sizeof(*file.offsets));
	file.cookies = calloc(cap, sizeof(*file.cookies));
	if (!file.offsets || !file.cookies ||
	    ARRAY_PUSH(links->files, links->file_cnt, links->file_cap, file)) {
		free(file.offsets);
		free(file.cookies);
		return NULL;
	}
	return &links->files[links->file_cnt - 1];
}

static int plan_probe(struct links *links, const struct probe *probe, uint64_t cookie, size_t cap)
{
	struct probed_file *file = find_file(links, probe->path);

	if (!file)
		file = add_file(links, probe, cap);
	if (!file)
		return -ENOMEM;
	file->offsets[file->cnt] = probe->file_offset;
	file->cookies[file->cnt] = cookie;
	file->cnt++;
	return 0;
}

int links_plan(struct links *links, const struct trigger *triggers, size_t trigger_cnt)
{
	size_t total = 0;
	int err = 0;

	for (size_t i = 0; i < trigger_cnt; i++)
		total += triggers[i].probe_cnt;
	for (size_t i = 0; i < trigger_cnt; i++) {
		uint64_t cookie = i | (uint64_t)triggers[i].action << 32; /* bpf/trigger.bpf.c */

		for (size_t j = 0; j < triggers[i].probe_cnt && !err; j++)
			err = plan_probe(links, &triggers[i].probes[j], cookie, total);
	}
	return err;
}

/* ---- attaching ---- */

static int fail_attach(int err, const struct probed_file *file, pid_t pid)
{
	switch (err) {
	case -KERNEL_ENOTSUPP:
	case -EOPNOTSUPP:
	case -ENOEXEC:
		return fail(-ENOTSUP, "the kernel cannot probe the first instruction of %s%s in %s",
			    file->symbol, file->cnt > 1 ? " or of another function" : "", file->path);
	case -ESRCH:
		return fail(err, "there is no process %d", pid);
	case -ENOMEM:
		return fail(err, "no memory for %zu probes in %s", file->cnt, file->path);
	default:
		return fail_errno(err, "cannot put a probe on %s in %s", file->symbol, file->path);
	}
}

int links_attach_multi(struct links *links, const struct bpf_program *program, pid_t pid)
{
	for (size_t i = 0; i < links->file_cnt; i++) {
		const struct probed_file *file = &links->files[i];
		int fd, err;

		if (array_reserve(&links->multi, &links->multi_cap, links->multi_cnt + 1,
				  sizeof(*links->multi)))
			return -ENOMEM;
		err = uprobe_multi_open(&fd, bpf_program__fd(program), file->path, file->offsets,
					file->cookies, file->cnt, pid);
		if (err == -EPERM)
			return privilege_fail_bpf();
		if (err)
			return fail_attach(err, file, pid);
		links->multi[links->multi_cnt++] = fd;
	}
	return 0;
}

static int attach_perf(struct links *links, const struct bpf_program *program, pid_t pid,
		       const struct probed_file *file, size_t i)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = file->cookies[i]);
	struct bpf_link *link;

	if (array_reserve(&links->perf, &links->perf_cap, links->perf_cnt + 1, sizeof(struct bpf_link *)))
		return -ENOMEM;
	link = bpf_program__attach_uprobe_opts(program, pid, file->path, file->offsets[i], &opts);
	if (!link && (errno == EPERM || errno == EACCES))
		return privilege_fail_perf_uprobe();
	if (!link)
		return fail_attach(-errno, file, pid);
	links->perf[links->perf_cnt++] = link;
	return 0;
}

int links_attach_perf(struct links *links, const struct bpf_program *program, pid_t pid)
{
	for (size_t i = 0; i < links->file_cnt; i++) {
		for (size_t j = 0; j < links->files[i].cnt; j++) {
			int err = attach_perf(links, program, pid, &links->files[i], j);

			if (err)
				return err;
		}
	}
	return 0;
}

/* ---- the end ---- */

void links_detach(struct links *links)
{
	for (size_t i = 0; i < links->multi_cnt; i++)
		close(links->multi[i]);
	for (size_t i = 0; i < links->perf_cnt; i++)
		bpf_link__destroy(links->perf[i]);
	links->multi_cnt = links->perf_cnt = 0;
}

void links_release(struct links *links)
{
	links_detach(links);
	for (size_t i = 0; i < links->file_cnt; i++) {
		free(links->files[i].offsets);
		free(links->files[i].cookies);
	}
	free(links->files);
	free(links->multi);
	free(links->perf);
	*links = (struct links){0};
}
