/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of code when its process is not there any more. */
#include "source/code_store.h"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assertions.h"
#include "process/maps.h"

enum { NOBODY = 65534 };

/* A child that has ended, and that nobody has waited for. */
static pid_t new_zombie(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	return pid;
}

static int set_maps_of_zombie(void)
{
	const struct code_store_config config = {0};
	const struct maps before = {0};
	CLEANUP(maps_release) struct maps now = {0};
	struct code_store *store = NULL;
	pid_t pid = new_zombie();
	int err = maps_read(&now, getpid());

	if (!err)
		err = code_store_new(&store, &config);
	if (!err)
		err = code_store_set_maps(store, pid, &before, &now);
	code_store_free(store);
	waitpid(pid, NULL, 0);
	return err;
}

/* Its mappings were read, and then it ended. To a user without rights, its memory is root's then. */
TEST(test_a_process_that_has_ended)
{
	pid_t child;
	int status;

	assert_int_equal(set_maps_of_zombie(), -ESRCH);
	if (getuid())
		return;
	child = fork();
	if (!child)
		_exit(setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		      setresuid(NOBODY, NOBODY, NOBODY) || set_maps_of_zombie() != -ESRCH);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

TEST_MAIN(NULL, NULL)
