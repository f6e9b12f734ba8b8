/* SPDX-License-Identifier: BSD-2-Clause */
/* Each sentence is asked for in a child that has just the privileges it is about. */
#include "trigger/privilege.h"

#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assertions.h"
#include "base/array.h"

enum { NOBODY = 65534, SKIPPED = 77 };

/* Becomes nobody with just these capabilities (cap_from_text(3)). */
static bool become_nobody(const char *caps_text)
{
	cap_t caps = cap_from_text(caps_text);
	bool done = caps && !prctl(PR_SET_KEEPCAPS, 1) && !setgroups(0, NULL) &&
		    !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY) &&
		    !cap_set_proc(caps);

	cap_free(caps);
	return done;
}

static bool forbid_bpf(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ARRAY_SIZE(filter), .filter = filter};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static bool no_caps(void)
{
	return become_nobody("=");
}

static bool only_bpf(void)
{
	return become_nobody("cap_bpf=ep");
}

static bool only_perfmon(void)
{
	return become_nobody("cap_perfmon=ep");
}

static bool both_caps(void)
{
	return become_nobody("cap_bpf,cap_perfmon=ep");
}

static bool both_caps_and_filter(void)
{
	return both_caps() && forbid_bpf();
}

static bool user_namespace(void)
{
	return !unshare(CLONE_NEWUSER);
}

static bool nothing(void)
{
	return true;
}

/*
 * Runs `ask` in a child prepared by `prepare`; false where it cannot be prepared. The child's sentence goes
 * to `text`.
 */
static bool ask_as(bool (*prepare)(void), int (*ask)(void), char *text, size_t size)
{
	int fds[2], status;
	ssize_t len;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		int err;

		if (!prepare())
			_exit(SKIPPED);
		err = ask();
		_exit(err == -EPERM && dprintf(fds[1], "%s", fail_message(err)) > 0 ? 0 : 1);
	}
	close(fds[1]);
	len = read(fds[0], text, size - 1);
	text[len > 0 ? len : 0] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		return false;
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

TEST(test_sentences)
{
	static const struct {
		bool (*prepare)(void);
		int (*ask)(void);
		const char *parts[3];
	} cases[] = {
		{no_caps,
		 privilege_fail_bpf,
		 {"CAP_BPF and CAP_PERFMON, and both are missing", "sudo setcap cap_bpf,cap_perfmon=ep /"}},
		{only_bpf, privilege_fail_bpf, {"and CAP_PERFMON is missing", "setcap"}},
		{only_perfmon, privilege_fail_bpf, {"and CAP_BPF is missing", "setcap"}},
		{both_caps, privilege_fail_bpf, {"lockdown, or a security module"}},
		{both_caps_and_filter, privilege_fail_bpf, {"a seccomp filter forbids bpf(2)"}},
		{user_namespace, privilege_fail_bpf, {"user namespace"}},
		{both_caps, privilege_fail_perf_uprobe, {"CAP_SYS_ADMIN, which is missing", "sudo"}},
		{nothing, privilege_fail_perf_uprobe, {"perf_event_open(2) is not permitted although"}},
	};

	if (getuid()) {
		printf("skipped: only root can give its child any privileges to choose from\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[1024];

		if (!ask_as(cases[i].prepare, cases[i].ask, text, sizeof(text))) {
			printf("skipped: case %zu cannot be prepared here\n", i);
			continue;
		}
		for (size_t j = 0; cases[i].parts[j]; j++)
			if (!strstr(text, cases[i].parts[j]))
				fail_msg("case %zu: \"%s\" does not say \"%s\"", i, text, cases[i].parts[j]);
	}
}

TEST_MAIN(NULL, NULL)
