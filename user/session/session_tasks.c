/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lists of threads and processes. A driver looks at what has ended, too, until session_take(). Without
 * one, targets may start and end threads for days: then what has ended is forgotten as soon as it is most of
 * a list, and so are the oldest records about it once they take much room.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/sideband.h"
#include "session/session_internal.h"

/* A list is looked through when it has so many that have ended. */
enum { ENDED_MIN = 256 };

/* ---- finding ---- */

struct session_thread *session_find(const struct session *session, pid_t tid)
{
	for (size_t at = 0, i;
	     (i = hash_index_next(&session->by_tid, hash_number(0, (uint64_t)tid), &at)) != HASH_INDEX_END;)
		if (session->threads[i]->tid == tid && !session->threads[i]->dead)
			return session->threads[i];
	return NULL;
}

struct session_process *session_find_process(const struct session *session, pid_t pid)
{
	for (size_t at = 0, i;
	     (i = hash_index_next(&session->by_pid, hash_number(0, (uint64_t)pid), &at)) != HASH_INDEX_END;)
		if (session->processes[i]->pid == pid && !session->processes[i]->exited)
			return session->processes[i];
	return NULL;
}

struct session_thread *session_thread_at(const struct session *session, size_t i)
{
	return i < session->thread_cnt ? session->threads[i] : NULL;
}

size_t session_thread_cnt(const struct session *session)
{
	return session->thread_cnt;
}

/* ---- adding ---- */

static void thread_free(struct session *session, struct session_thread *thread)
{
	TELL_DRIVER(session, thread_free, thread);
	free(thread);
}

int session_add_thread(struct session *session, struct session_process *process, pid_t tid,
		       struct session_thread **ret_thread)
{
	size_t size = session->config.driver->thread_size;
	struct session_thread *thread = calloc(1, size ? size : sizeof(*thread));
	int err = thread ? 0 : -ENOMEM;

	if (err)
		return err;
	thread->process = process;
	thread->tid = tid;
	err = ASK_DRIVER(session, thread_new, thread);
	if (!err)
		err = ARRAY_PUSH(session->threads, session->thread_cnt, session->thread_cap, thread);
	if (!err) {
		err = hash_index_add(&session->by_tid, hash_number(0, (uint64_t)tid),
				     session->thread_cnt - 1);
		session->thread_cnt -= !!err;
	}
	if (err) {
		thread_free(session, thread);
		return err;
	}
	*ret_thread = thread;
	return 0;
}

static void process_free(struct session_process *process)
{
	maps_release(&process->maps);
	closep(&process->end_fd);
	free(process);
}

int session_add_process(struct session *session, pid_t pid, const struct session_process *former,
			struct session_process **ret_process)
{
	size_t size = session->config.driver->process_size;
	struct session_process *process = calloc(1, size ? size : sizeof(*process));
	int err = process ? 0 : -ENOMEM;

	if (err)
		return err;
	process->pid = pid;
	process->end_fd = -1;
	err = ASK_DRIVER(session, process_new, process, former);
	if (!err)
		err = ARRAY_PUSH(session->processes, session->process_cnt, session->process_cap, process);
	if (!err) {
		err = hash_index_add(&session->by_pid, hash_number(0, (uint64_t)pid),
				     session->process_cnt - 1);
		session->process_cnt -= !!err;
	}
	if (err) {
		process_free(process);
		return err;
	}
	if (session->config.hits_stop)
		pin_guard_process(&session->pin, pid);
	*ret_process = process;
	return 0;
}

int session_rename_thread(struct session *session, struct session_thread *thread, pid_t tid)
{
	thread->tid = tid;
	for (size_t i = 0; i < session->thread_cnt; i++)
		if (session->threads[i] == thread)
			return hash_index_add(&session->by_tid, hash_number(0, (uint64_t)tid), i);
	return 0;
}

/* ---- forgetting ---- */

/* There is room for them: they were there before. */
static void index_again(struct session *session)
{
	hash_index_clear(&session->by_tid);
	for (size_t i = 0; i < session->thread_cnt; i++)
		hash_index_add(&session->by_tid, hash_number(0, (uint64_t)session->threads[i]->tid), i);
	hash_index_clear(&session->by_pid);
	for (size_t i = 0; i < session->process_cnt; i++)
		hash_index_add(&session->by_pid, hash_number(0, (uint64_t)session->processes[i]->pid), i);
}

/* The first process has the wait status that is asked for at the end. */
static void forget_processes(struct session *session)
{
	size_t kept = session->process_cnt ? 1 : 0;

	for (size_t i = kept; i < session->process_cnt; i++) {
		struct session_process *process = session->processes[i];

		if (process->exited)
			process_free(process);
		else
			session->processes[kept++] = process;
	}
	session->process_cnt = kept;
}

void session_forget_ended(struct session *session)
{
	size_t kept = 0;

	for (size_t i = 0; i < session->thread_cnt; i++) {
		struct session_thread *thread = session->threads[i];

		/* Of a process that has ended no thread is there. */
		if (thread->dead || (session->config.free_running && thread->process->exited))
			thread_free(session, thread);
		else
			session->threads[kept++] = thread;
	}
	session->thread_cnt = kept;
	if (session->config.free_running)
		forget_processes(session);
	session->ended_cnt = 0;
	index_again(session);
}

static bool is_known(const struct session *session, const struct sideband_record *record)
{
	if (!session_find_process(session, record->pid))
		return false;
	return record->type == PERF_RECORD_MMAP2 || session_find(session, record->tid);
}

/* Of the older half, drops what is about those that have ended. 0, or -errno with a sentence. */
static int forget_records(struct session *session)
{
	struct snapshot *sideband = session->sideband;
	struct sideband_record record;
	size_t kept = 0, pos = 0, begin = 0;

	while (pos < sideband->sideband_size / 2) {
		int more = sideband_next(sideband, &pos, &record);

		if (more <= 0)
			return more;
		if (is_known(session, &record)) {
			memmove(sideband->sideband + kept, sideband->sideband + begin, pos - begin);
			kept += pos - begin;
		} else if (record.type == PERF_RECORD_FORK) {
			session->forgotten_cnt++;
		}
		begin = pos;
	}
	memmove(sideband->sideband + kept, sideband->sideband + pos, sideband->sideband_size - pos);
	sideband->sideband_size -= pos - kept;
	return 0;
}

int session_forget_some(struct session *session)
{
	int err;

	if (!session->config.free_running || session->config.untraced)
		return 0;
	if (session->ended_cnt >= ENDED_MIN && session->ended_cnt > session->thread_cnt / 2)
		session_forget_ended(session);
	if (session->sideband->sideband_size <= session->sideband_max)
		return 0;
	err = forget_records(session);
	/* What is left is about those that live. */
	if (session->sideband->sideband_size > session->sideband_max / 4 * 3)
		session->sideband_max *= 2;
	return err;
}

uint64_t session_forgotten_cnt(const struct session *session)
{
	return session->forgotten_cnt;
}

void session_free_tasks(struct session *session)
{
	for (size_t i = 0; i < session->thread_cnt; i++)
		thread_free(session, session->threads[i]);
	free(session->threads);
	for (size_t i = 0; i < session->process_cnt; i++)
		process_free(session->processes[i]);
	free(session->processes);
	hash_index_release(&session->by_tid);
	hash_index_release(&session->by_pid);
}
