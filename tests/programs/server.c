/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for lines on its input and does what they say, in threads that sleep in all sorts of system calls:
 * something to attach to. What it writes is the same whether it is watched or not. What it executes
 * starts with few instructions.
 *
 *	work	a call of handle() in the main thread
 *	thread	one in a thread of its own
 *	fork	one in a child
 *	vfork	the same by vfork
 *	exec	"echo" in a child of a child
 *	become	executes itself anew with the same input
 *	dlopen	loads libm and calls cos()
 *	alarm	waits for a timer's signal
 *	trap	blocks SIGTRAP and says so
 *	mask	on which processors it may run
 *	quit	how many calls of each kind were interrupted
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static volatile int interrupted;

__attribute__((noinline)) long handle(long request)
{
	volatile long sum = 0;

	for (long i = 0; i < 100; i++)
		sum += i * request;
	return sum;
}

static void on_alarm(int signal)
{
	(void)signal;
	ticks++;
}

/* Nothing ever comes. */
static void *wait_in_epoll(void *arg)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	(void)arg;
	while (epoll_wait(fd, &event, 1, -1) < 0)
		interrupted++;
	return NULL;
}

static void *wait_in_sleep(void *arg)
{
	struct timespec rest, time = {.tv_sec = 1000};

	(void)arg;
	while (nanosleep(&time, &rest))
		interrupted++;
	return NULL;
}

static void *wait_in_sigwait(void *arg)
{
	sigset_t set;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	while (sigtimedwait(&set, NULL, NULL) != SIGUSR2)
		interrupted++;
	return NULL;
}

static void *handle_in_thread(void *arg)
{
	handle((long)arg);
	return NULL;
}

static void in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, handle_in_thread, (void *)3L);
	pthread_join(thread, NULL);
	puts("thread");
}

static void in_child(pid_t child, int code)
{
	int status;

	if (!child) {
		handle(5);
		_exit(code);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

static void in_vfork(void)
{
	int status;
	pid_t child = vfork();

	if (!child) {
		execl("/bin/busybox", "echo", "vfork", (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

static void in_library(void)
{
	void *libm = dlopen("libm.so.6", RTLD_NOW);
	double (*function)(double) = (double (*)(double))dlsym(libm, "cos");

	printf("cos %.1f\n", function(0.0));
}

static void until_alarm(void)
{
	struct itimerval timer = {.it_value.tv_usec = 1000};
	int before = ticks;
	sigset_t block, was;

	sigemptyset(&block);
	sigaddset(&block, SIGALRM);
	sigprocmask(SIG_BLOCK, &block, &was);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (ticks == before)
		sigsuspend(&was);
	sigprocmask(SIG_SETMASK, &was, NULL);
	puts("alarm");
}

static void block_trap(void)
{
	sigset_t set, was;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, &was);
	sigprocmask(SIG_SETMASK, &was, &set);
	printf("trap %d %d\n", sigismember(&was, SIGTRAP), sigismember(&set, SIGTRAP));
}

static void show_mask(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	printf("processors %d\n", CPU_COUNT(&set));
}

static void serve(const char *word, char **argv)
{
	if (!strcmp(word, "work"))
		printf("work %ld\n", handle(7));
	else if (!strcmp(word, "thread"))
		in_thread();
	else if (!strcmp(word, "fork"))
		in_child(fork(), 4);
	else if (!strcmp(word, "exec"))
		system("/bin/busybox echo exec");
	else if (!strcmp(word, "vfork"))
		in_vfork();
	else if (!strcmp(word, "dlopen"))
		in_library();
	else if (!strcmp(word, "alarm"))
		until_alarm();
	else if (!strcmp(word, "trap"))
		block_trap();
	else if (!strcmp(word, "mask"))
		show_mask();
	else if (!strcmp(word, "become"))
		execv("/proc/self/exe", argv);
}

/* No more than the line is read, so that the next one is there for whom we become. */
static int read_word(char *word, size_t size)
{
	size_t len = 0;
	ssize_t got;

	while (len + 1 < size && ((got = read(0, word + len, 1)) == 1 || (got < 0 && errno == EINTR))) {
		if (got < 0)
			interrupted++;
		else if (word[len++] == '\n')
			break;
	}
	word[len ? len - 1 : 0] = '\0';
	return len > 0;
}

int main(int argc, char **argv)
{
	static void *(*const waits[])(void *) = {wait_in_epoll, wait_in_sleep, wait_in_sigwait};
	struct sigaction action = {.sa_handler = on_alarm};
	sigset_t set;
	pthread_t thread;
	char word[64];

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGALRM, &action, NULL);
	/* Signals are for the main thread, but for the one that another waits for. */
	sigfillset(&set);
	sigdelset(&set, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		pthread_create(&thread, NULL, waits[i], NULL);
	sigdelset(&set, SIGUSR2);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	puts("ready");
	while (read_word(word, sizeof(word)) && strcmp(word, "quit"))
		serve(word, argv);
	printf("interrupted %d\n", interrupted);
	return 9;
}
