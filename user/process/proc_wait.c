/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/proc_wait.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file/reading.h"
#include "process/proc_status.h"

/* "NR 0xARG... 0xSP 0xIP", "-1 0xSP 0xIP" or "running". */
static int read_call(pid_t tid, struct proc_wait *wait)
{
	char path[64], line[256];
	uint64_t *args = wait->args;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tid);
	if (!reading_text(path, line, sizeof(line)))
		return proc_has_ended(tid) ? -ESRCH : -EPERM;
	if (sscanf(line,
		   "%" SCNd32 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64,
		   &wait->nr, &args[0], &args[1], &args[2], &args[3], &args[4], &args[5], &wait->sp,
		   &wait->ip) == 9)
		return 0;
	memset(args, 0, sizeof(wait->args));
	return sscanf(line, "%" SCNd32 " %" SCNx64 " %" SCNx64, &wait->nr, &wait->sp, &wait->ip) == 3
		       ? 0
		       : -EAGAIN;
}

/* Its switches first: if it runs after that, they differ the next time. */
int proc_wait_read(pid_t tid, struct proc_wait *ret_wait)
{
	struct proc_wait wait = {.nr = -1};
	uint64_t voluntary, others;
	char state[16];
	int err;

	if (proc_status_number(tid, "voluntary_ctxt_switches", 10, &voluntary) ||
	    proc_status_number(tid, "nonvoluntary_ctxt_switches", 10, &others) ||
	    proc_status_text(tid, "State", state, sizeof(state)))
		return -ESRCH;
	wait.switches = voluntary + others;
	wait.state = state[0];
	if (!strchr("SDTt", wait.state))
		return -EAGAIN;
	err = read_call(tid, &wait);
	if (!err)
		*ret_wait = wait;
	return err;
}
