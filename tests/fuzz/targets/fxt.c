/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace of any content: what is read is a valid timeline, and can be written again. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "input/fxt_read.h"
#include "output/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(closep) int fd = memfd_create("input", MFD_CLOEXEC);
	struct timeline *timeline = NULL;
	struct fxt_names *names = NULL;
	struct output *output;
	char path[64];

	fail_reset();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || !fxt_is(path) ||
	    fxt_read(&timeline, &names, path))
		return 0;
	if (!timeline_is_valid(timeline) || output_open(&output, "/dev/null") ||
	    sink_fxt.write(timeline, output) || output_close(output))
		abort();
	timeline_free(timeline);
	fxt_names_free(names);
	return 0;
}
