/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the administrator, the container or the kernel's configuration allows.
 * Documentation/admin-guide/sysctl/kernel.rst, LSM/Yama.rst, kernel_lockdown(7).
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file/reading.h"
#include "doctor/doctor.h"
#include "process/proc_status.h"
#include "process/program.h"
#include "trigger/privilege.h"

static void say(struct finding *finding, enum finding_state state, const char *detail)
{
	finding->state = state;
	snprintf(finding->detail, sizeof(finding->detail), "%s", detail);
}

static void remedy(struct finding *finding, const char *command)
{
	snprintf(finding->remedy, sizeof(finding->remedy), "%s", command);
}

/* A number out of /proc/self/status; 0 where it has no such field. */
static uint64_t own_status(const char *field)
{
	uint64_t number = 0;

	proc_status_number(getpid(), field, 10, &number);
	return number;
}

static void check_kernel(struct finding *finding)
{
	struct utsname name;

	uname(&name);
	snprintf(finding->detail, sizeof(finding->detail), "%s %s", name.sysname, name.release);
}

/* Debian and Ubuntu have levels above 2, where not even CAP_PERFMON helps. */
static void check_paranoid(struct finding *finding)
{
	int level = reading_number("/proc/sys/kernel/perf_event_paranoid", -9);

	snprintf(finding->detail, sizeof(finding->detail), "%d%s", level,
		 level > 2 ? ": CAP_PERFMON does not open events at this level (triggers do not need them)"
			   : "");
	if (level > 2)
		remedy(finding, "sudo sysctl kernel.perf_event_paranoid=2");
}

static void check_yama(struct finding *finding)
{
	int scope = reading_number("/proc/sys/kernel/yama/ptrace_scope", 0);

	if (scope == 0)
		say(finding, FINDING_WORKS, "0: own processes can be attached to");
	else if (scope < 3)
		say(finding, FINDING_NOTE,
		    "attaching needs CAP_SYS_PTRACE; programs that trailcam runs can be traced");
	else
		say(finding, FINDING_FAILS, "3: nothing can be traced until the next boot");
	if (scope == 1 || scope == 2)
		remedy(finding, "sudo sysctl kernel.yama.ptrace_scope=0");
}

static void check_seccomp(struct finding *finding)
{
	if (own_status("Seccomp") != 2) {
		say(finding, FINDING_WORKS, "no filter");
		return;
	}
	say(finding, FINDING_NOTE,
	    "a filter is in force: it may forbid bpf(2), perf_event_open(2) or ptrace(2), whatever the "
	    "capabilities");
	remedy(finding, "docker run --security-opt seccomp=unconfined ... (or a profile that allows them)");
}

static void check_no_new_privs(struct finding *finding)
{
	say(finding, FINDING_NOTE,
	    own_status("NoNewPrivs") ? "set: capabilities of files have no effect, only inherited ones"
				     : "not set");
}

static void check_user_namespace(struct finding *finding)
{
	if (!privilege_in_user_namespace())
		say(finding, FINDING_WORKS, "the initial one");
	else
		say(finding, FINDING_FAILS,
		    "this is another one (a rootless container?): bpf(2) is refused here, but with a BPF "
		    "token (Linux 6.9, libbpf 1.4)");
}

static void check_lockdown(struct finding *finding)
{
	char text[128];

	if (!reading_text("/sys/kernel/security/lockdown", text, sizeof(text)) || strstr(text, "[none]"))
		say(finding, FINDING_WORKS, "none");
	else
		say(finding, strstr(text, "[confidentiality]") ? FINDING_FAILS : FINDING_NOTE,
		    strstr(text, "[confidentiality]") ? "confidentiality: BPF programs may not read memory"
						      : "integrity");
}

static void check_unprivileged_bpf(struct finding *finding)
{
	snprintf(finding->detail, sizeof(finding->detail),
		 "%d (does not matter: triggers need the capabilities anyway)",
		 reading_number("/proc/sys/kernel/unprivileged_bpf_disabled", 0));
}

static void check_memlock(struct finding *finding)
{
	struct rlimit limit;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur == RLIM_INFINITY)
		snprintf(finding->detail, sizeof(finding->detail), "unlimited");
	else
		snprintf(finding->detail, sizeof(finding->detail),
			 "%llu KiB (kernels before 5.11 count BPF maps here)",
			 (unsigned long long)limit.rlim_cur / 1024);
}

static void check_btf(struct finding *finding)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		say(finding, FINDING_NOTE,
		    "not there: samples show code of the program only, and not why threads wait");
	else
		say(finding, FINDING_WORKS, "there: for what samples show of waits and of the kernel");
}

static void check_fzf(struct finding *finding)
{
	CLEANUP(freep) char *path = NULL;

	if (!program_find("fzf", &path)) {
		say(finding, FINDING_WORKS, "there: '?' picks with it");
		return;
	}
	say(finding, FINDING_NOTE, "not there: '?' picks with a plain filter");
	remedy(finding, "sudo apt install fzf");
}

const struct doctor_check doctor_settings[] = {
	{"kernel", DOCTOR_OTHER, check_kernel},
	{"user namespace", DOCTOR_OTHER, check_user_namespace},
	{"seccomp", DOCTOR_OTHER, check_seccomp},
	{"no_new_privs", DOCTOR_OTHER, check_no_new_privs},
	{"lockdown", DOCTOR_OTHER, check_lockdown},
	{"perf_event_paranoid", DOCTOR_OTHER, check_paranoid},
	{"unprivileged_bpf_disabled", DOCTOR_OTHER, check_unprivileged_bpf},
	{"yama ptrace_scope", DOCTOR_OTHER, check_yama},
	{"memory lock limit", DOCTOR_OTHER, check_memlock},
	{"kernel BTF", DOCTOR_OTHER, check_btf},
	{"fzf", DOCTOR_OTHER, check_fzf},
	{0},
};
