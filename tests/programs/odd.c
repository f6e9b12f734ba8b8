/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs seldom do, and a tracer must not change: `odd WHAT` prints what it saw, which is the same in
 * each run.
 *	flags		loads flags, then forks and vforks
 *	loop		ignores SIGTRAP, loads flags for some seconds, and shows whether it still ignores it
 *	trapflag	sets the trap flag itself
 *	blocked		blocks SIGTRAP around system calls that show it, and sends it to itself
 *	ignored		ignores SIGTRAP
 *	suspended	waits for a signal with all others blocked
 *	clock		reads the clock again and again
 *	traceme		traces a child that asks for it
 *	attach		traces a child that does not
 *	exec		another thread than the first one executes a program
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static void load_flags(void)
{
	__asm__ volatile("pushfq; popfq" ::: "memory", "cc");
}

/* The wait status of a child that ends at once, or executes a program that does. */
static int child(int executes)
{
	pid_t pid = executes ? vfork() : fork();
	int status = -1;

	if (!pid && executes)
		execl("/bin/true", "true", (char *)NULL);
	if (!pid)
		_exit(3);
	waitpid(pid, &status, 0);
	return status;
}

static void odd_flags(void)
{
	for (int i = 0; i < 3; i++) {
		load_flags();
		printf("fork %x\n", (unsigned int)child(0));
		load_flags();
		printf("vfork %x\n", (unsigned int)child(1));
	}
}

static volatile int traps;

static void on_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	if (++traps == 4)
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}

static void catch_traps(void)
{
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
}

static void odd_trapflag(void)
{
	unsigned long flags;

	catch_traps();
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; nop; nop; nop; nop; nop; nop" ::
				 : "memory", "cc");
	__asm__ volatile("pushfq; popq %0" : "=r"(flags));
	printf("traps %d, flag %lu\n", traps, flags >> 8 & 1);
	traps = 0;
	/* It clears the flag itself. */
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; nop; pushfq; andq $~0x100, (%%rsp); popfq" ::
				 : "memory", "cc");
	printf("traps %d\n", traps);
	printf("child %x\n", (unsigned int)child(1));
}

static int is_blocked(int signal)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	return sigismember(&mask, signal);
}

static void show_status(const char *field)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, field, strlen(field)))
			fputs(line, stdout);
	if (file)
		fclose(file);
}

static void odd_loop(void)
{
	signal(SIGTRAP, SIG_IGN);
	puts("ready");
	for (time_t end = time(NULL) + 3; time(NULL) < end;) {
		load_flags();
		usleep(100);
	}
	raise(SIGTRAP);
	show_status("SigIgn");
	show_status("SigCgt");
}

static void odd_blocked(void)
{
	sigset_t set, pending;
	siginfo_t info = {0};

	catch_traps();
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	show_status("SigBlk");
	printf("blocked %d, child %x\n", is_blocked(SIGTRAP), (unsigned int)child(1));
	raise(SIGTRAP);
	sigpending(&pending);
	printf("pending %d, traps %d\n", sigismember(&pending, SIGTRAP), traps);
	sigwaitinfo(&set, &info);
	printf("signal %d, code %d\n", info.si_signo, info.si_code);
	kill(getpid(), SIGTRAP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	printf("blocked %d, traps %d\n", is_blocked(SIGTRAP), traps);
}

/* What a child has that runs freely, and what a program that it executes. */
static void show_in_children(const char *field)
{
	pid_t pid = fork();

	if (!pid) {
		show_status(field);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (!pid)
		execl("/bin/grep", "grep", field, "/proc/self/status", (char *)NULL);
	waitpid(pid, NULL, 0);
}

static void odd_ignored(void)
{
	struct sigaction old;

	signal(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &old);
	printf("ignored %d\n", old.sa_handler == SIG_IGN);
	show_in_children("SigIgn");
	show_in_children("SigCgt");
	catch_traps();
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &old);
	printf("traps %d, of the handler %d\n", traps,
	       old.sa_sigaction == on_trap && (old.sa_flags & SA_SIGINFO));
	show_in_children("SigCgt");
}

static volatile int alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void odd_suspended(void)
{
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	signal(SIGALRM, on_alarm);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 3; i++) {
		ualarm(20000, 0);
		sigsuspend(&none);
		printf("alarms %d, blocked %d %d\n", alarms, is_blocked(SIGALRM), is_blocked(SIGTRAP));
	}
}

static void odd_clock(void)
{
	struct timespec last = {0}, now = {0};
	struct timeval time = {0};
	int back = 0, failed = 0;

	for (int i = 0; i < 300; i++) {
		failed += clock_gettime(CLOCK_MONOTONIC, &now) + gettimeofday(&time, NULL);
		back += now.tv_sec < last.tv_sec || (now.tv_sec == last.tv_sec && now.tv_nsec < last.tv_nsec);
		last = now;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	printf("failed %d, back %d, two clocks apart %d\n", failed, back,
	       labs(now.tv_sec - time.tv_sec) > 60);
	printf("no clock %d\n", clock_gettime(99, &now));
}

static void trace_child(int asks)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		if (asks)
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(4);
	}
	waitpid(pid, &status, WUNTRACED);
	printf("stopped %d", WSTOPSIG(status));
	if (!asks) {
		printf(", attached %ld", ptrace(PTRACE_ATTACH, pid, NULL, NULL));
		kill(pid, SIGCONT);
		waitpid(pid, &status, 0);
	}
	for (int i = 0; i < 5; i++) {
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		waitpid(pid, &status, 0);
		printf(" %d", WIFSTOPPED(status) && (!asks || WSTOPSIG(status) == SIGTRAP));
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	printf(", ended %x\n", (unsigned int)status);
}

static void odd_traceme(void)
{
	trace_child(1);
}

static void odd_attach(void)
{
	trace_child(0);
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void *execute(void *arg)
{
	usleep(5000);
	execl("/bin/sh", "sh", "-c", "echo executed; exit 21", (char *)NULL);
	return arg;
}

static void odd_exec(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, wait_for_ever, NULL);
	pthread_create(&thread, NULL, execute, NULL);
	wait_for_ever(NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} odds[] = {
		{"flags", odd_flags},	  {"loop", odd_loop},	    {"trapflag", odd_trapflag},
		{"blocked", odd_blocked}, {"ignored", odd_ignored}, {"suspended", odd_suspended},
		{"clock", odd_clock},	  {"traceme", odd_traceme}, {"attach", odd_attach},
		{"exec", odd_exec},
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(odds) / sizeof(*odds); i++)
		if (!strcmp(argv[1], odds[i].name))
			odds[i].fn();
	puts("end");
	return 0;
}
