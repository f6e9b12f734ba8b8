/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctf/ctf_input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/spill.h"

enum { READ_SIZE = 1 << 20 };

static int map_file(struct ctf_input *input, int fd, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	*input = (struct ctf_input){.bytes = bytes, .size = size, .mapped = true};
	return 0;
}

static int read_all(struct ctf_input *input, int fd)
{
	ssize_t got;

	do {
		int err = spill_reserve(&input->owned, &input->cap, input->size + READ_SIZE, 1);

		if (err)
			return err;
		got = read(fd, input->owned + input->size, READ_SIZE);
		if (got < 0 && errno != EINTR)
			return -errno;
		input->size += got > 0 ? (size_t)got : 0;
	} while (got);
	input->bytes = input->owned;
	return 0;
}

int ctf_input_open(struct ctf_input *ret_input, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	CLEANUP(closep) int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct ctf_input input = {0};
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st))
		return fail_errno(-errno, "cannot read %s", is_stdin ? "standard input" : path);
	if (!is_stdin && S_ISREG(st.st_mode) && st.st_size)
		err = map_file(&input, fd, (size_t)st.st_size);
	else
		err = read_all(&input, fd);
	if (err) {
		ctf_input_release(&input);
		return fail_errno(err, "cannot read %s", is_stdin ? "standard input" : path);
	}
	*ret_input = input;
	return 0;
}

void ctf_input_release(struct ctf_input *input)
{
	if (input->mapped)
		munmap((void *)input->bytes, input->size);
	spill_free(input->owned);
	*input = (struct ctf_input){0};
}
