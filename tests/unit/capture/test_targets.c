/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/targets.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(test_list)
{
	struct targets targets = {0};

	assert_int_equal(targets_add_list(&targets, "12,7,12"), 0);
	assert_int_equal(targets.cnt, 2);
	assert_int_equal(targets.pids[0], 12);
	assert_int_equal(targets.pids[1], 7);
	targets_release(&targets);
}

TEST(test_bad_lists)
{
	static const char *const bad[] = {"",	"x", "12,", ",12",	   "12 13",
					  "-1", "0", "12x", "99999999999", "0x12"};
	struct targets targets = {0};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(targets_add_list(&targets, bad[i]), -EINVAL);
		assert_non_null(strstr(fail_message(-EINVAL), "is not a process number"));
	}
	targets_release(&targets);
}

TEST(test_container_ids)
{
	static const char *const lines[] = {
		"0::/system.slice/docker-" HEX64 ".scope",
		"0::/docker/" HEX64,
		"12:memory:/docker/" HEX64,
		"0::/machine.slice/libpod-" HEX64 ".scope/container",
		"0::/kubepods/burstable/pod6d1a-44/" HEX64,
		"0::/kubepods.slice/kubepods-pod6d1a.slice/cri-containerd-" HEX64 ".scope",
		"0::/kubepods.slice/crio-" HEX64 ".scope",
		"3:cpu:/system.slice/containerd.service/kubepods-pod6d1a.slice:cri-containerd:" HEX64,
		"0::/docker/ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff/docker/" HEX64,
	};
	char id[CONTAINER_ID_MAX];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		memset(id, 0, sizeof(id));
		assert_true(container_id_parse(lines[i], id));
		assert_string_equal(id, HEX64);
	}
}

TEST(test_no_container_ids)
{
	static const char *const lines[] = {
		"",
		"0::",
		"0::/",
		"0::/user.slice/user-1000.slice/session-3.scope",
		"0::/machine.slice/libpod-conmon-" HEX64 ".scope",
		"0::/docker/" HEX64 "0",
		"0::/docker/0123456789ab",
		HEX64,
	};
	char id[CONTAINER_ID_MAX];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_false(container_id_parse(lines[i], id));
}

TEST(test_names)
{
	struct targets targets = {0};
	int ready[2];
	char word;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "targets-testing");
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &word, 1), 1);
	/* What is longer than the kernel keeps is cut as the kernel cuts it. */
	assert_int_equal(targets_add_named(&targets, "targets-testing-this"), 0);
	assert_int_equal(targets.cnt, 1);
	assert_int_equal(targets.pids[0], child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(targets_add_named(&targets, "targets-testing-this"), -ENOENT);
	targets_release(&targets);
	close(ready[0]);
	close(ready[1]);
}

TEST(test_nowhere)
{
	struct targets targets = {0};

	assert_int_equal(targets_add_cgroup(&targets, "/no/such/group"), -ENOENT);
	assert_int_equal(targets_add_container(&targets, "0000000000000000000000000000000000000001"),
			 -ENOENT);
	assert_int_equal(targets_add_container(&targets, ""), -EINVAL);
	assert_int_equal(targets_add_container(&targets, "a/b"), -EINVAL);
	assert_int_equal(targets.cnt, 0);
	targets_release(&targets);
}

TEST_MAIN(NULL, NULL)
