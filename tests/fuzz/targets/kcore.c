/* SPDX-License-Identifier: BSD-2-Clause */
/* A kcore file of any content beside a recording, as perf record --kcore leaves one. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "history/history.h"
#include "source/pt/kernel_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static char dir[] = "/dev/shm/trailcam-fuzz-XXXXXX", path[64];
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	CLEANUP(history_freep) struct history *history = NULL;
	FILE *file;

	if (!path[0]) {
		if (!mkdtemp(dir))
			abort();
		snprintf(path, sizeof(path), "%s/kcore", dir);
	}
	file = fopen(path, "we");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		abort();
	fail_reset();
	/* What was read of it is code of the kernel's image. */
	if (!snapshot_new(&snapshot) && !kernel_code_read(snapshot, dir))
		history_new(&history, snapshot, NULL);
	unlink(path);
	return 0;
}
