/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints what a program inherits from who starts it, one line each: what differs between two ways of being
 * started is what those did.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;

static void print_signals(void)
{
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int i = 1; i < NSIG; i++) {
		struct sigaction action;

		if (sigismember(&mask, i) == 1)
			printf("signal %d is blocked\n", i);
		if (!sigaction(i, NULL, &action) && action.sa_handler != SIG_DFL)
			printf("signal %d is ignored\n", i);
	}
}

static void print_limits(void)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (!getrlimit((__rlimit_resource_t)i, &limit))
			printf("limit %d: %lx %lx\n", i, (long)limit.rlim_cur, (long)limit.rlim_max);
	}
}

static void print_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int own = dirfd(dir);

	for (struct dirent *entry; (entry = readdir(dir));) {
		char path[64], target[256] = "";

		if (entry->d_name[0] == '.' || atoi(entry->d_name) == own)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%.16s", entry->d_name);
		if (readlink(path, target, sizeof(target) - 1) > 0)
			printf("descriptor %s: %s\n", entry->d_name, target);
	}
	closedir(dir);
}

/* The lines of a file that begin with one of the words; NULL: all. */
static void print_lines(const char *path, const char *const words[])
{
	FILE *file = fopen(path, "r");
	char line[4096];

	while (file && fgets(line, sizeof(line), file))
		for (size_t i = 0; !words || words[i]; i++) {
			if (words && strncmp(line, words[i], strlen(words[i])))
				continue;
			fputs(line, stdout);
			break;
		}
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	static const char *const status[] = {
		"Name:",   "Umask:",  "Uid:",	 "Gid:",	"Groups:",  "CapInh:", "CapPrm:",
		"CapEff:", "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:", NULL};
	struct itimerval timer;
	struct sched_param param;
	int death = 0;
	mode_t mask = umask(0);

	umask(mask);
	print_signals();
	print_limits();
	print_descriptors();
	print_lines("/proc/self/status", status);
	print_lines("/proc/self/oom_score_adj", NULL);
	print_lines("/proc/self/coredump_filter", NULL);
	print_lines("/proc/self/cgroup", NULL);
	getitimer(ITIMER_REAL, &timer);
	prctl(PR_GET_PDEATHSIG, &death);
	sched_getparam(0, &param);
	printf("group %d, session %d, terminal's %d\n", getpgrp(), getsid(0), tcgetpgrp(0));
	printf("nice %d, policy %d %d, personality %x, timer slack %d\n", getpriority(PRIO_PROCESS, 0),
	       sched_getscheduler(0), param.sched_priority, personality(0xffffffff),
	       prctl(PR_GET_TIMERSLACK));
	printf("umask %o, timer %ld, signal at the parent's death %d, dumpable %d\n", mask,
	       (long)timer.it_value.tv_sec, death, prctl(PR_GET_DUMPABLE));
	for (int i = 0; i < argc; i++)
		printf("argument %d: %s\n", i, argv[i]);
	for (char **var = environ; *var; var++)
		if (strncmp(*var, "_=", 2))
			printf("environment: %s\n", *var);
	return 0;
}
