/* SPDX-License-Identifier: BSD-2-Clause */
/* A text that claims to be perf script's. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "input/perf_script.h"
#include "rebuild/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(closep) int fd = memfd_create("input", MFD_CLOEXEC);
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;
	char path[64];

	fail_reset();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || !perf_script_is(path))
		return 0;
	if (!decode_file(&decoded, path, &(struct decode_config){.threads = 1}) &&
	    !timeline_is_valid(decoded_timeline(decoded)))
		abort();
	return 0;
}
