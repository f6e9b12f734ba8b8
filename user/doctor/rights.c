/* SPDX-License-Identifier: BSD-2-Clause */
/* The capabilities of this process, and what each is for. CAP_SYS_ADMIN contains CAP_BPF and CAP_PERFMON. */
#include <stdbool.h>
#include <stdio.h>
#include <sys/capability.h>
#include <unistd.h>

#include "doctor/doctor.h"

static bool has(cap_value_t which)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR;

	if (!caps)
		return false;
	cap_get_flag(caps, which, CAP_PERMITTED, &value);
	cap_free(caps);
	return value == CAP_SET;
}

static void judge(struct finding *finding, cap_value_t which, const char *names, const char *purpose)
{
	char path[256];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	finding->state = has(which) ? FINDING_WORKS : FINDING_NOTE;
	snprintf(finding->detail, sizeof(finding->detail), "%s: for %s", has(which) ? "held" : "not held",
		 purpose);
	path[len > 0 ? len : 0] = '\0';
	if (!has(which))
		snprintf(finding->remedy, sizeof(finding->remedy), "sudo setcap %s+ep %s", names, path);
}

static void check_bpf(struct finding *finding)
{
	judge(finding, CAP_BPF, "cap_bpf,cap_perfmon",
	      "triggers, and what samples show of waits and of the kernel (with CAP_PERFMON)");
}

static void check_perfmon(struct finding *finding)
{
	judge(finding, CAP_PERFMON, "cap_bpf,cap_perfmon",
	      "triggers, and what samples show of waits and of the kernel (with CAP_BPF)");
}

static void check_ptrace(struct finding *finding)
{
	/* With the others, which setcap(8) would take away. */
	judge(finding, CAP_SYS_PTRACE, "cap_bpf,cap_perfmon,cap_sys_ptrace",
	      "attaching where kernel.yama.ptrace_scope is above 0, and as root to other users' processes");
}

static void check_admin(struct finding *finding)
{
	judge(finding, CAP_SYS_ADMIN, "cap_sys_admin", "triggers on kernels before 6.6 (perf uprobes)");
	finding->remedy[0] = '\0'; /* nobody should grant that where the others will do */
}

const struct doctor_check doctor_rights[] = {
	{"CAP_BPF", DOCTOR_OTHER, check_bpf},
	{"CAP_PERFMON", DOCTOR_OTHER, check_perfmon},
	{"CAP_SYS_PTRACE", DOCTOR_OTHER, check_ptrace},
	{"CAP_SYS_ADMIN", DOCTOR_OTHER, check_admin},
	{0},
};
