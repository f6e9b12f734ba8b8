/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a program translated, records it, and ends as it did.
 *
 *	translate_run [-o RECORDING] [-t] -- PROGRAM [ARGUMENT...]
 *
 * -t: says on its last line of standard error how many seconds of processor time the program and its children
 * took.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/error.h"
#include "process/launch.h"
#include "recording/recording.h"
#include "source/translate/translate.h"

enum { TRACE_SIZE = 256 << 20 };

static void die(int err)
{
	fprintf(stderr, "translate_run: %s\n", fail_message(err));
	exit(125);
}

static void gave_back(void *ctx, pid_t tid, const char *why)
{
	(void)ctx;
	fprintf(stderr, "translate_run: thread %d goes on natively: %s\n", (int)tid, why);
}

static void tell_time(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	fprintf(stderr, "%.3f\n",
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
}

static void save(struct translate *translate, const char *path)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	int err = snapshot_new(&snapshot);

	if (!err)
		err = translate_snapshot(translate, snapshot);
	if (!err)
		snapshot->command = strdup("");
	if (!err)
		snapshot->stopped_by = strdup("");
	if (!err)
		err = recording_save(snapshot, path);
	if (err)
		die(err);
}

int main(int argc, char **argv)
{
	const struct translate_config config = {.trace_size = TRACE_SIZE, .gave_back = gave_back};
	CLEANUP(translate_freep) struct translate *translate = NULL;
	const char *path = NULL;
	struct launch launch;
	bool timed = false;
	int err, status;

	for (int option; (option = getopt(argc, argv, "+o:t")) != -1;) {
		if (option == '?')
			return 125;
		timed |= option == 't';
		path = option == 'o' ? optarg : path;
	}
	if (optind == argc)
		return 125;
	err = launch_prepare(&launch, &(struct launch_program){.path = argv[optind], .argv = argv + optind});
	if (!err)
		err = translate_new(&translate, &config);
	if (!err)
		err = translate_launch(translate, launch.pid);
	if (err)
		die(err);
	launch_go(&launch);
	err = translate_run(translate);
	if (err)
		die(err);
	if (path)
		save(translate, path);
	if (timed)
		tell_time();
	status = translate_wait_status(translate);
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}
