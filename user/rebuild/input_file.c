/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings are mapped and traces are read twice (what are they, then what is in them), which a pipe cannot
 * do. A pipe is opened without waiting for its writer, so that an interrupt is heard before there is one.
 */
#include "rebuild/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/temporary.h"
#include "base/write_all.h"

enum { BLOCK = 1 << 16, PATIENCE_MS = 100 };

static int copy(int from, int to, bool (*is_cancelled)(void))
{
	uint8_t bytes[BLOCK];
	int err = 0;

	while (!err) {
		struct pollfd wait = {.fd = from, .events = POLLIN};
		ssize_t got;

		if (is_cancelled && is_cancelled())
			return fail(-ECANCELED, "interrupted: nothing was written");
		if (poll(&wait, 1, PATIENCE_MS) <= 0)
			continue;
		got = read(from, bytes, sizeof(bytes));
		if (!got)
			return 0;
		if (got > 0)
			err = write_all(to, bytes, (size_t)got);
		else if (errno != EAGAIN && errno != EINTR)
			err = -errno;
	}
	return fail_errno(err, "cannot read it, or copy it to $TMPDIR");
}

int input_file_open(struct input_file *ret_input, const char *name, bool (*is_cancelled)(void))
{
	bool is_standard = !strcmp(name, "-");
	CLEANUP(input_file_release) struct input_file input = {.path = strdup(name), .fd = -1};
	CLEANUP(closep) int from = -1;
	struct stat st;
	int err;

	if (!input.path)
		return -ENOMEM;
	if (!is_standard && (stat(name, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
		*ret_input = (struct input_file){.path = TAKE_PTR(input.path), .fd = -1};
		return 0;
	}
	from = is_standard ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (from < 0)
		return fail_errno(-errno, "cannot read %s", is_standard ? "standard input" : name);
	input.fd = temporary_open();
	if (input.fd < 0)
		return fail_errno(-errno, "no temporary file for a copy of %s",
				  is_standard ? "standard input" : name);
	err = copy(from, input.fd, is_cancelled);
	if (err)
		return fail_prefix(err, "%s", is_standard ? "standard input" : name);
	free(input.path);
	if (asprintf(&input.path, "/proc/self/fd/%d", input.fd) < 0)
		input.path = NULL;
	if (!input.path)
		return -ENOMEM;
	*ret_input = (struct input_file){.path = TAKE_PTR(input.path), .fd = TAKE_FD(input.fd)};
	return 0;
}

int input_file_fail(const struct input_file *input, const char *name, int err)
{
	CLEANUP(freep) char *sentence = strdup(fail_message(err));
	const char *at = sentence && input->fd >= 0 ? strstr(sentence, input->path) : NULL;

	if (!at)
		return err;
	return fail(err, "%.*s%s%s", (int)(at - sentence), sentence,
		    strcmp(name, "-") ? name : "standard input", at + strlen(input->path));
}
