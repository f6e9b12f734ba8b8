/* SPDX-License-Identifier: BSD-2-Clause */
/* A perf.data of any content: read, and what comes of it decoded. */
#include <stdlib.h>

#include "base/error.h"
#include "model/timeline.h"
#include "rebuild/decode.h"
#include "recording/perf_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	CLEANUP(decoded_freep) struct decoded *decoded = NULL;

	fail_reset();
	if (snapshot_new(&snapshot) || perf_data_read(snapshot, bytes, size))
		return 0;
	/* Code copies are files; none of them is there. */
	if (!decode_snapshot(&decoded, snapshot, &(struct decode_config){.threads = 1}) &&
	    !timeline_is_valid(decoded_timeline(decoded)))
		abort();
	return 0;
}
