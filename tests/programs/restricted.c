/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Restricts its system calls: the kernel kills it for each other one. "restricted strict": itself, to read,
 * write and exit. "restricted filter": all of its threads, one of which runs on meanwhile and then executes
 * code for the first time. "restricted ask": nothing, it asks what could be. "restricted wait": all that
 * waiting for input does not need, restart_syscall(2), too.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STARTS, RUNS, RESTRICTED, DONE };

static atomic_int state;
static volatile int number = 5;

static int __attribute__((noinline)) new_code(int n)
{
	return n < 2 ? n : new_code(n - 1) + new_code(n - 2);
}

static void say(int n)
{
	char text[] = "0\n";

	text[0] = (char)('0' + n);
	if (write(STDOUT_FILENO, text, 2) != 2)
		syscall(SYS_exit, 2);
}

static void *run_on(void *arg)
{
	(void)arg;
	state = RUNS;
	while (state == RUNS)
		number = 6;
	say(new_code(number));
	state = DONE;
	for (;;)
		;
	return NULL;
}

static int filter_all(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_on, NULL))
		return 1;
	while (state == STARTS)
		;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		return 1;
	state = RESTRICTED;
	while (state != DONE)
		;
	syscall(SYS_exit_group, 7);
	return 1;
}

/* An `a` is written for each time that nothing came for 50 ms; what comes ends it. */
static int only_wait(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_poll, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	long cnt;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		return 1;
	while (!(cnt = syscall(SYS_poll, &input, 1, 50)))
		syscall(SYS_write, STDOUT_FILENO, "a", 1);
	syscall(SYS_exit_group, cnt == 1 ? 7 : 2);
	return 1;
}

/* What libseccomp asks the kernel when it begins: nothing is restricted. */
static int only_ask(void)
{
	unsigned int action = SECCOMP_RET_KILL_PROCESS;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) ||
	    !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) ||
	    !syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) ||
	    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL))
		return 1;
	say(new_code(number));
	return 7;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "ask"))
		return only_ask();
	if (argc > 1 && !strcmp(argv[1], "wait"))
		return only_wait();
	if (argc > 1 && !strcmp(argv[1], "filter"))
		return filter_all();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 1;
	say(new_code(number));
	syscall(SYS_exit, 7);
	return 1;
}
