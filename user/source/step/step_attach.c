/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A running process is taken hold of thread by thread. Those that are not seized yet may create more, so its
 * list is read until it tells nothing new; what a seized thread creates is held from the beginning. None is
 * stopped by that: probes are attached while they run, which may take long.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "base/error.h"
#include "process/attach_check.h"
#include "process/proc_status.h"
#include "source/step/step_internal.h"

/* It may have been created by a thread that we have seized already. */
static bool is_ours(pid_t tid)
{
	uint64_t tracer;

	return !proc_status_number(tid, "TracerPid", 10, &tracer) && (pid_t)tracer == getpid();
}

/* 1: new and seized; 0: known, or gone. */
static int seize_thread(struct step *step, struct step_process *process, pid_t tid)
{
	struct step_thread *thread;
	int err;

	if (step_find(step, tid) || is_ours(tid))
		return 0;
	err = step_seize(step, tid);
	if (err == -ESRCH || (err == -EPERM && proc_has_ended(tid)))
		return 0;
	if (err)
		return attach_refused(process->pid, err);
	err = step_add_thread(step, process, tid, &thread);
	if (err)
		return err;
	thread->announced = true;
	step_announce_comm(step, thread, false);
	return 1;
}

/* How many were new. */
static int seize_threads(struct step *step, struct step_process *process)
{
	DIR *tasks;
	char path[64];
	int cnt = 0, seized = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	tasks = opendir(path);
	if (!tasks)
		return 0;
	for (struct dirent *entry; seized >= 0 && (entry = readdir(tasks));) {
		pid_t tid = atoi(entry->d_name);

		seized = tid > 0 ? seize_thread(step, process, tid) : 0;
		cnt += seized;
	}
	closedir(tasks);
	return seized < 0 ? seized : cnt;
}

int step_attach(struct step *step, pid_t pid)
{
	struct step_process *process;
	int cnt, total = 0, err = attach_check(pid);

	if (!err)
		err = step_add_process(step, pid, &process);
	if (err)
		return err;
	process->runs_itself = true;
	do {
		cnt = seize_threads(step, process);
		process->exited = cnt < 0;
		if (cnt < 0)
			return cnt;
		total += cnt;
	} while (cnt);
	process->exited = !total;
	if (!total)
		return fail(-ESRCH, "process %d has ended just now", pid);
	step->seized = true;
	return step_read_maps(step, process, pid, true);
}
