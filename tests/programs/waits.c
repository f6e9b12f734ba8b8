/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits whose cause is known. waits lock|disk|fault|hog|two: another thread holds a lock; each write goes to
 * the disk; each page is touched for the first time; another program, "hog", wants the same processor; a
 * short wait comes before each long one.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 30,
	HELD_US = 20000,
	FAULTS = 20000,
	PAGE = 4096,
	BUSY_MS = 100,
	HOG_NICE = -10,
	SHORT_US = 50,
	LONG_US = 60000,
	TWO_ROUNDS = 5
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;

static void *holder(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "holder");
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		pthread_barrier_wait(&held);
		usleep(HELD_US);
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&held);
	}
	return NULL;
}

__attribute__((noinline)) static void wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void run_lock(void)
{
	pthread_t thread;

	pthread_barrier_init(&held, NULL, 2);
	pthread_create(&thread, NULL, holder, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&held);
		wait_for_lock();
		pthread_barrier_wait(&held);
	}
	pthread_join(thread, NULL);
}

__attribute__((noinline)) static void write_slowly(int fd)
{
	static const char block[PAGE];

	if (write(fd, block, sizeof(block)) != sizeof(block) || fsync(fd))
		abort();
}

static void run_disk(void)
{
	char path[] = "/var/tmp/trailcam-waits-XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	for (int i = 0; i < ROUNDS; i++)
		write_slowly(fd);
	close(fd);
}

__attribute__((noinline)) static void touch_pages(volatile char *pages)
{
	for (size_t i = 0; i < FAULTS; i++)
		pages[i * PAGE] = 1;
}

static void run_fault(void)
{
	char *pages =
		mmap(NULL, (size_t)FAULTS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(pages, (size_t)FAULTS * PAGE, MADV_NOHUGEPAGE);
	touch_pages(pages);
}

static int busy_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (int)(used.tv_sec * 1000 + used.tv_nsec / 1000000);
}

__attribute__((noinline)) static void work_beside_hog(void)
{
	while (busy_ms() < BUSY_MS)
		;
}

static void run_hog(void)
{
	cpu_set_t one;
	pid_t hog;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	hog = fork();
	if (!hog) {
		prctl(PR_SET_NAME, "hog");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpriority(PRIO_PROCESS, 0, HOG_NICE); /* so that others have less of it */
		for (;;)
			;
	}
	work_beside_hog();
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
}

__attribute__((noinline)) static void wait_short(void)
{
	usleep(SHORT_US);
	asm volatile("");
}

__attribute__((noinline)) static void wait_long(void)
{
	usleep(LONG_US);
	asm volatile("");
}

static void run_two(void)
{
	for (int i = 0; i < TWO_ROUNDS; i++) {
		wait_short();
		wait_long();
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "lock"))
		run_lock();
	else if (!strcmp(what, "disk"))
		run_disk();
	else if (!strcmp(what, "fault"))
		run_fault();
	else if (!strcmp(what, "hog"))
		run_hog();
	else if (!strcmp(what, "two"))
		run_two();
	else
		return 2;
	return 0;
}
