/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything that makes single-stepping hard, in one program with a deterministic output: signals with and
 * without a handler, faults, int3 of its own, repeated string instructions, mov ss, pushf, longjmp, a return
 * that does not match its call, deep recursion, restarted system calls, SIGTRAP sent by itself, fork, vfork,
 * threads.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals, traps, faults;
static sigjmp_buf recover;

static void on_usr1(int signal)
{
	(void)signal;
	signals++;
}

static void on_trap(int signal)
{
	(void)signal;
	traps++;
}

static void on_segv(int signal)
{
	(void)signal;
	faults++;
	siglongjmp(recover, 1);
}

static void test_signals(void)
{
	signal(SIGUSR1, on_usr1);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);
	signal(SIGUSR2, SIG_IGN);
	raise(SIGUSR2);
	raise(SIGCHLD); /* ignored by default */
	raise(SIGURG);
	printf("signals %d\n", (int)signals);
}

/*
 * Linux restarts the two-byte form in its middle in any process that has a uprobe in it, ours or not:
 * "probed" leaves it out.
 */
static void test_traps(bool probed)
{
	signal(SIGTRAP, on_trap);
	__asm__ volatile("int3");
	if (!probed)
		__asm__ volatile(".byte 0xcd, 0x03");
	raise(SIGTRAP);
	printf("traps %d\n", (int)traps);
}

static void test_faults(void)
{
	volatile char *nowhere = (char *)16;
	void (*volatile jump)(void) = (void (*)(void))(uintptr_t)32;

	signal(SIGSEGV, on_segv);
	if (!sigsetjmp(recover, 1))
		*nowhere = 1;
	if (!sigsetjmp(recover, 1))
		jump();
	printf("faults %d\n", (int)faults);
}

static void test_strings(void)
{
	static char from[300], to[300];
	size_t cnt = sizeof(from), zero = 0;
	char *src = from, *dst = to;

	memset(from, 'x', sizeof(from));
	__asm__ volatile("rep movsb" : "+S"(src), "+D"(dst), "+c"(cnt)::"memory");
	__asm__ volatile("rep movsb" : "+S"(src), "+D"(dst), "+c"(zero)::"memory");
	dst = to;
	cnt = sizeof(to);
	__asm__ volatile("repe scasb" : "+D"(dst), "+c"(cnt) : "a"('x') : "memory", "cc");
	printf("strings %d\n", !memcmp(from, to, sizeof(to)));
}

static void test_flags(void)
{
	uint64_t flags;

	__asm__ volatile("pushf; pop %0" : "=r"(flags)::"memory");
	printf("trap flag %d\n", (int)(flags >> 8 & 1));
	__asm__ volatile("mov %%ss, %%eax; mov %%eax, %%ss; jmp 1f; nop; 1:" ::: "eax");
	__asm__ volatile("mov %%ss, %%eax; mov %%eax, %%ss; nop" ::: "eax");
	puts("mov ss");
}

static jmp_buf outer;
static void deep(int n);
static void (*volatile deeper)(int) = deep;

static void deep(int n)
{
	volatile char frame[64];

	frame[0] = (char)n;
	if (n > 0)
		deeper(n - 1);
	else
		longjmp(outer, 1);
	frame[1] = frame[0];
}

static int __attribute__((noinline)) recurse(int n)
{
	return n ? recurse(n - 1) + 1 : 0;
}

static void test_stacks(void)
{
	uint64_t pc;

	if (!setjmp(outer))
		deep(20);
	printf("recursion %d\n", recurse(200));
	__asm__ volatile("call 1f; 1: pop %0" : "=r"(pc)::"memory");
	__asm__ volatile("lea 1f(%%rip), %0; push %0; ret; 1:" : "=&r"(pc)::"memory");
	puts("stacks");
}

static void test_restart(void)
{
	struct itimerval timer = {.it_value = {.tv_usec = 20000}};
	struct sigaction action = {.sa_handler = on_usr1, .sa_flags = SA_RESTART};
	int ends[2];
	char c;
	ssize_t got;
	pid_t pid;

	signals = 0;
	sigaction(SIGALRM, &action, NULL);
	if (pipe(ends))
		exit(2);
	pid = fork();
	if (!pid) {
		usleep(60000);
		_exit(write(ends[1], "c", 1) != 1);
	}
	setitimer(ITIMER_REAL, &timer, NULL);
	got = read(ends[0], &c, 1);
	printf("restarted read %zd, signals %d\n", got, (int)signals);
	waitpid(pid, NULL, 0);
}

static void test_children(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(recurse(7));
	waitpid(pid, &status, 0);
	printf("fork %d\n", WEXITSTATUS(status));
	pid = vfork();
	if (!pid)
		_exit(8);
	waitpid(pid, &status, 0);
	printf("vfork %d\n", WEXITSTATUS(status));
	printf("system %d\n", WEXITSTATUS(system("exit 9")));
}

static void *thread_main(void *arg)
{
	return (void *)(intptr_t)recurse((int)(intptr_t)arg);
}

static void test_threads(void)
{
	pthread_t threads[3];
	intptr_t sum = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, thread_main, (void *)(intptr_t)(10 + i));
	for (int i = 0; i < 3; i++) {
		void *result;

		pthread_join(threads[i], &result);
		sum += (intptr_t)result;
	}
	printf("threads %d\n", (int)sum);
}

__attribute__((noinline)) void finish(void)
{
	fflush(stdout);
	__asm__ volatile("");
}

static bool is_asked(char **argv, const char *what)
{
	while (*argv)
		if (!strcmp(*argv++, what))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	bool probed = is_asked(argv, "probed");

	(void)argc;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	test_signals();
	test_traps(probed);
	test_faults();
	test_strings();
	test_flags();
	test_stacks();
	test_restart();
	test_children();
	test_threads();
	finish();
	if (is_asked(argv, "exec"))
		execl(argv[0], argv[0], probed ? "probed" : NULL, NULL);
	return 3;
}
