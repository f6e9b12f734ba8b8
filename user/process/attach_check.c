/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules are those of ptrace(2), "Ptrace access mode checking", and of the Yama module
 * (Documentation/admin-guide/LSM/Yama.rst).
 */
#include "process/attach_check.h"

#include <elf.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file/reading.h"
#include "base/rights.h"
#include "process/proc_status.h"

enum { CAP_SYS_PTRACE_BIT = 19, NAME_BYTES = 64 };

static void name_of(pid_t pid, char name[static NAME_BYTES])
{
	if (proc_status_text(pid, "Name", name, NAME_BYTES))
		snprintf(name, NAME_BYTES, "?");
}

/* A thread that is not a leader has a status file, too. */
static int check_exists(pid_t pid)
{
	uint64_t tgid;

	if (proc_status_number(pid, "Tgid", 10, &tgid))
		return fail(-ESRCH, "there is no process %d", pid);
	if ((pid_t)tgid != pid)
		return fail(-ESRCH, "%d is a thread of process %d: give the process", pid, (pid_t)tgid);
	return 0;
}

static int check_is_program(pid_t pid, const char *name)
{
	char state[NAME_BYTES] = "", threads[NAME_BYTES] = "";
	uint64_t vm;

	proc_status_text(pid, "State", state, sizeof(state));
	proc_status_text(pid, "Threads", threads, sizeof(threads));
	/* A leader that has exited before its threads looks like a zombie, too. */
	if ((state[0] == 'Z' && !strcmp(threads, "1")) || state[0] == 'X')
		return fail(-EINVAL,
			    "process %d (%s) has ended already: it is a zombie that its parent has not "
			    "waited for",
			    pid, name);
	if (state[0] == 'Z' || !proc_status_number(pid, "VmSize", 10, &vm))
		return 0;
	if (proc_is_ending(pid))
		return fail(-ESRCH, "process %d (%s) is just ending", pid, name);
	return fail(-EINVAL, "process %d (%s) is a kernel thread: it runs no program", pid, name);
}

static int check_is_free(pid_t pid, const char *name)
{
	uint64_t tracer = 0;
	char by[NAME_BYTES];

	if (proc_status_number(pid, "TracerPid", 10, &tracer) || !tracer)
		return 0;
	name_of((pid_t)tracer, by);
	return fail(-EBUSY, "process %d (%s) is already traced by process %d (%s)", pid, name, (int)tracer,
		    by);
}

int attach_check_machine(pid_t pid)
{
	unsigned char ident[EI_NIDENT];
	CLEANUP(closep) int fd = -1;
	char path[64], name[NAME_BYTES];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, ident, sizeof(ident)) != sizeof(ident) || ident[EI_CLASS] == ELFCLASS64)
		return 0; /* if this may not be read, the kernel will refuse to attach */
	name_of(pid, name);
	return fail(-ENOTSUP, "process %d (%s) is a 32-bit program: only 64-bit x86 programs can be traced",
		    pid, name);
}

static bool has_ids(pid_t pid, const char *field, unsigned int id)
{
	char text[NAME_BYTES];
	unsigned int ids[3];

	if (proc_status_text(pid, field, text, sizeof(text)) ||
	    sscanf(text, "%u %u %u", &ids[0], &ids[1], &ids[2]) != 3)
		return false;
	return ids[0] == id && ids[1] == id && ids[2] == id;
}

/* The files of a process that may not be looked into belong to root. */
static bool is_dumpable(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return !stat(path, &st) && st.st_uid == getuid();
}

/* A child that has not exec'd yet is like this process. */
static bool is_child(pid_t pid)
{
	uint64_t parent;

	return !proc_status_number(pid, "PPid", 10, &parent) && (pid_t)parent == getpid();
}

/*
 * The caller of this process may not do more than the kernel's basic rules allow: our capabilities are not
 * the caller's.
 */
static int check_is_callers(pid_t pid, const char *name)
{
	uint64_t caps;

	if (!rights_are_gained() || is_child(pid) ||
	    (has_ids(pid, "Uid", getuid()) && has_ids(pid, "Gid", getgid()) && is_dumpable(pid) &&
	     !proc_status_number(pid, "CapPrm", 16, &caps) && !caps))
		return 0;
	return fail(
		-EPERM,
		"process %d (%s) is not yours to trace: it belongs to another user or has privileges, and "
		"the capabilities of trailcam's file are for your own processes; run trailcam as root",
		pid, name);
}

int attach_check(pid_t pid)
{
	char name[NAME_BYTES];
	int err = check_exists(pid);

	if (err)
		return err;
	name_of(pid, name);
	if (pid == getpid() || pid == getppid())
		return fail(-EINVAL, "process %d is trailcam itself", pid);
	err = check_is_callers(pid, name);
	if (!err)
		err = check_is_program(pid, name);
	if (!err)
		err = check_is_free(pid, name);
	return err ? err : attach_check_machine(pid);
}

static bool may_trace_all(void)
{
	uint64_t caps = 0;

	return !proc_status_number(getpid(), "CapEff", 16, &caps) && caps >> CAP_SYS_PTRACE_BIT & 1;
}

int attach_refused(pid_t pid, int err)
{
	char name[NAME_BYTES];
	uint64_t uid = 0;
	const struct passwd *user;
	int scope = reading_number("/proc/sys/kernel/yama/ptrace_scope", 0);

	name_of(pid, name);
	proc_status_number(pid, "Uid", 10, &uid);
	user = getpwuid((uid_t)uid);
	if (err != -EPERM)
		return fail_errno(err, "cannot trace process %d (%s)", pid, name);
	if (scope == 3)
		return fail(err, "kernel.yama.ptrace_scope=3 forbids tracing until the next boot");
	if (!may_trace_all() && uid != getuid())
		return fail(err,
			    "process %d (%s) belongs to user %s: attaching to it needs CAP_SYS_PTRACE: "
			    "run trailcam as root",
			    pid, name, user ? user->pw_name : "unknown");
	if (!may_trace_all() && scope)
		return fail(err,
			    "kernel.yama.ptrace_scope=%d forbids attaching to process %d (%s) without "
			    "CAP_SYS_PTRACE: run as root, or sysctl kernel.yama.ptrace_scope=0",
			    scope, pid, name);
	return fail(err,
		    "ptrace of process %d (%s) is not permitted: it has privileges that trailcam lacks, or a "
		    "seccomp filter or security module is in the way",
		    pid, name);
}
