/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linux (6.18, kernel/events/uprobes.c, handler_chain()) replaces the return address in each process that
 * hits a breakpoint for which any return link exists; it checks only later whether the link is for that
 * process. So a return link for process A does nothing to process B until we put a breakpoint into B. A link
 * for all processes, or for the one that we watch, replaces it already: our probe changes nothing.
 *
 * The kernel's description of a link (struct bpf_link_info, Linux 6.8) is declared here, because the headers
 * that we build with are older.
 */
#include "trigger/foreign_links.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sort.h"
#include "trigger/uprobe_multi.h"

enum { LINK_TYPE_UPROBE_MULTI = 12 };

struct link_info {
	uint32_t type, id, prog_id, padding;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t path_size, cnt, flags;
	/* 0 or -1: for all processes, or for one that has ended or is in another PID namespace */
	int32_t pid;
};

_Static_assert(sizeof(struct link_info) == 64, "as in the kernel's struct bpf_link_info");

static int get_info(int fd, struct link_info *info)
{
	uint32_t size = sizeof(*info);

	return bpf_obj_get_info_by_fd(fd, info, &size);
}

/* The kernel names session links only by what their program may be attached to. */
static bool is_session(uint32_t prog_id)
{
	CLEANUP(closep) int fd = bpf_prog_get_fd_by_id(prog_id);

	return fd >= 0 && !uprobe_session_obstacle(fd);
}

/* The path is as the file's mount namespace has it, which is most likely that of the process. */
static bool find_file(struct stat *ret_st, const char *path, pid_t pid)
{
	char seen_by[PATH_MAX + 32];

	snprintf(seen_by, sizeof(seen_by), "/proc/%d/root%s", pid, path);
	return !stat(seen_by, ret_st) || !stat(path, ret_st);
}

/* ---- who it is ---- */

static bool line_is(const char *path, const char *wanted)
{
	CLEANUP(fclosep) FILE *file = fopen(path, "re");
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (!strcmp(line, wanted))
			return true;
	return false;
}

/* The process that holds the link, other than by our `fd`; 0: none is seen, as when it is pinned. */
static pid_t find_owner(uint32_t link_id, int fd)
{
	char wanted[32], own[64];
	glob_t found;
	pid_t owner = 0;

	snprintf(wanted, sizeof(wanted), "link_id:\t%u\n", link_id);
	snprintf(own, sizeof(own), "/proc/%d/fdinfo/%d", getpid(), fd);
	if (glob("/proc/[0-9]*/fdinfo/*", GLOB_NOSORT, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && !owner; i++)
		if (strcmp(found.gl_pathv[i], own) && line_is(found.gl_pathv[i], wanted))
			owner = (pid_t)strtol(found.gl_pathv[i] + strlen("/proc/"), NULL, 10);
	globfree(&found);
	return owner;
}

static int refuse_foreign(int fd, const struct link_info *info, const struct probe *probe)
{
	pid_t owner = find_owner(info->id, fd);
	char holder[48] = "";

	if (owner)
		snprintf(holder, sizeof(holder), " of process %d", owner);
	return fail(
		-EBUSY,
		"BPF link %u%s watches returns of %s in %s for process %d: with a probe there, Linux would "
		"replace return addresses in the traced program as well, and a C++ exception or Go would "
		"abort it; name a later instruction (SYM+OFF), or end that tool",
		info->id, holder, probe->symbol, probe->path, info->pid);
}

/* ---- where it is ---- */

static int check_trigger(int fd, const struct link_info *info, const struct stat *file,
			 const struct trigger *trigger)
{
	const uint64_t *offsets = (const void *)(uintptr_t)info->offsets;
	const char *path = NULL;
	struct stat st = {0};

	for (size_t i = 0; i < trigger->probe_cnt; i++) {
		const struct probe *probe = &trigger->probes[i];

		if (!path || strcmp(path, probe->path)) {
			path = probe->path;
			if (stat(path, &st))
				st = (struct stat){0};
		}
		if (st.st_dev == file->st_dev && st.st_ino == file->st_ino &&
		    bsearch(&probe->file_offset, offsets, info->cnt, sizeof(*offsets), sort_by_number))
			return refuse_foreign(fd, info, probe);
	}
	return 0;
}

static int check_places(int fd, const struct link_info *known, const struct trigger_config *config)
{
	char path[PATH_MAX] = "";
	CLEANUP(freep) uint64_t *offsets = calloc(known->cnt, sizeof(*offsets));
	struct link_info info = {.path = (uintptr_t)path,
				 .path_size = sizeof(path),
				 .offsets = (uintptr_t)offsets,
				 .cnt = known->cnt};
	struct stat file;
	int err = 0;

	if (!offsets)
		return -ENOMEM;
	if (!get_info(fd, &info) && find_file(&file, path, info.pid)) {
		sort_array(offsets, info.cnt, sizeof(*offsets), sort_by_number);
		for (size_t i = 0; i < config->trigger_cnt && !err; i++)
			err = check_trigger(fd, &info, &file, &config->triggers[i]);
	}
	return err;
}

static int check_link(int fd, const struct trigger_config *config)
{
	enum { UPROBE_MULTI_RETURN = 1 }; /* BPF_F_UPROBE_MULTI_RETURN */
	struct link_info info = {0};

	if (get_info(fd, &info) || info.type != LINK_TYPE_UPROBE_MULTI || !info.cnt || info.pid <= 0 ||
	    info.pid == config->pid)
		return 0;
	if (!(info.flags & UPROBE_MULTI_RETURN) && !is_session(info.prog_id))
		return 0;
	return check_places(fd, &info, config);
}

int foreign_links_check(const struct trigger_config *config)
{
	uint32_t id = 0;
	int err;

	while (!(err = bpf_link_get_next_id(id, &id))) {
		CLEANUP(closep) int fd = bpf_link_get_fd_by_id(id);

		err = fd < 0 ? 0 : check_link(fd, config); /* < 0: it has gone */
		if (err)
			return err;
	}
	if (err != -ENOENT)
		log_debug("other tools' return probes cannot be looked for: %s", strerror(-err));
	return 0;
}
