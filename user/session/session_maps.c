/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings and names of traced processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "model/sideband.h"
#include "process/proc_status.h"
#include "session/session_internal.h"

/* See session_look_now_and_then(). */
enum { LOOK_MIN_NS = 5000000, LOOK_MAX_NS = 2000000000, LOOK_PART = 100, NS_PER_MS = 1000000 };

static int announce_maps(struct session *session, const struct session_process *process, pid_t tid,
			 const struct maps *before, bool exec)
{
	const struct maps *now = &process->maps;
	uint64_t now_ns = session_now(session);
	int err = 0;

	for (size_t i = 0; i < now->cnt && !err; i++)
		if ((exec || !maps_has(before, &now->items[i])) &&
		    !ASK_DRIVER(session, has_told, process, &now->items[i]))
			err = sideband_add_mmap(session->sideband, process->pid, tid, now_ns,
						&now->items[i].mapping);
	return err ? err : ASK_CAPTURE(session, mapped, process->pid, before, now, exec);
}

/* Whether a range that held code now holds other code: a decoder must forget what it knew of it. */
static bool code_replaced(const struct maps *before, const struct maps *maps)
{
	for (size_t i = 0; i < maps->cnt; i++) {
		const struct map *map = &maps->items[i];

		if (maps_has(before, map))
			continue;
		for (size_t j = 0; j < before->cnt; j++)
			if (before->items[j].mapping.addr < map->mapping.addr + map->mapping.size &&
			    map->mapping.addr < before->items[j].mapping.addr + before->items[j].mapping.size)
				return true;
	}
	return false;
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH;
}

/*
 * In the middle of an exec nobody may read it; of a program that protects itself (PR_SET_DUMPABLE), or
 * whose file this user may not read, only root.
 */
static bool is_hidden(int err)
{
	return err == -EACCES || err == -EPERM;
}

/* The driver's own mappings are not reported. */
static void leave_out_own(const struct session *session, const struct session_process *process,
			  struct maps *maps)
{
	size_t kept = 0;

	for (size_t i = 0; i < maps->cnt; i++) {
		struct map *map = &maps->items[i];

		if (ASK_DRIVER(session, owns, process, &map->mapping))
			free((char *)map->mapping.name);
		else
			maps->items[kept++] = *map;
	}
	maps->cnt = kept;
}

int session_read_maps(struct session *session, struct session_process *process, pid_t tid, bool exec)
{
	CLEANUP(maps_release) struct maps before = {0};
	struct maps now = {0};
	int err = maps_read(&now, process->pid);

	if (is_hidden(err) && exec)
		log_warn("process %d executes a program that this user may not read: its code is not known",
			 (int)process->pid);
	else if (err)
		return is_gone(err) || is_hidden(err) ? 0 : err;
	leave_out_own(session, process, &now);
	before = process->maps;
	process->maps = now;
	if (exec || code_replaced(&before, &now))
		TELL_DRIVER(session, code_changed, process);
	err = announce_maps(session, process, tid, &before, exec);
	return is_gone(err) ? 0 : err;
}

int session_look_at_maps(struct session *session)
{
	bool is_told = session->started || session->config.untraced;
	int err = 0;

	for (size_t i = 0; i < session->process_cnt && !err && !is_told; i++)
		if (!session->processes[i]->exited && session->processes[i]->runs_itself)
			err = session_read_maps(session, session->processes[i], session->processes[i]->pid,
						false);
	return err;
}

/* The first look may come before what is told of. */
void session_look_soon(struct session *session)
{
	session->look_every_ns = LOOK_MIN_NS / 2;
	if (session->look_ns > session->soonest_ns)
		session->look_ns = session->soonest_ns;
}

int session_look_now_and_then(struct session *session, int *ret_ms)
{
	uint64_t now = clock_kernel_ns(), begin, least;
	size_t told = session->sideband->sideband_size;
	int err = 0;

	if (now >= session->look_ns) {
		/* On a busy machine a look lasts longer than it takes. */
		begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		err = session_look_at_maps(session);
		least = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) * LOOK_PART;
		session->look_every_ns =
			session->sideband->sideband_size > told ? LOOK_MIN_NS : 2 * session->look_every_ns;
		if (session->look_every_ns > LOOK_MAX_NS)
			session->look_every_ns = LOOK_MAX_NS;
		if (session->look_every_ns < least)
			session->look_every_ns = least;
		now = clock_kernel_ns();
		session->look_ns = now + session->look_every_ns;
		session->soonest_ns = now + least;
	}
	*ret_ms = (int)((session->look_ns - now) / NS_PER_MS) + 1;
	return err;
}

void session_announce_comm(struct session *session, struct session_thread *thread, bool exec)
{
	char comm[sizeof(thread->comm)] = "";

	/* A thread that is gone has no name. */
	proc_status_text(thread->tid, "Name", comm, sizeof(comm));
	if (!exec && (!*comm || !strcmp(comm, thread->comm)))
		return;
	memcpy(thread->comm, comm, sizeof(comm));
	session_note(session, sideband_add_comm(session->sideband, thread->process->pid, thread->tid,
						session_now(session), comm, exec));
}
