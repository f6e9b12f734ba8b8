/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording is a directory in perf.data's directory form, which stock `perf script -i DIR` decodes too:
 *
 *	DIR/data		perf.data: attributes, sideband, AUXTRACE_INFO, AUXTRACE, hits
 *	DIR/kcore_dir/		the kernel's code and names, where it was traced (as perf record --kcore has them)
 *	DIR/code.PID.ADDR.NS	code bytes that files on disk do not give (vDSO, JIT, patched pages)
 *
 * Formats: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/{header,intel-pt}.c. Hits,
 * trigger names and the list of code copies travel in a header feature section whose number perf does not
 * know and passes over.
 */
#pragma once

#include "model/snapshot.h"

#define RECORDING_DATA	     "data"
#define RECORDING_KERNEL_DIR "kcore_dir" /* as perf record --kcore names it */

/*
 * Writes `snapshot` to the directory `path`, which only its owner may enter. It is made under a temporary
 * name beside it and renamed at the end: a killed or failed save leaves nothing under `path`. -EEXIST with a
 * sentence where `path` is there already (an empty directory or an older recording of ours,
 * recording/takeover.h, is replaced); -EBUSY where it is a mount point; -ENOSPC and the like with a sentence.
 */
int recording_save(const struct snapshot *snapshot, const char *path);

/*
 * Reads a recording: the directory, or a perf.data file. 0, or with a sentence that names the file: -ENOENT;
 * -EBADMSG (not a recording, damaged, cut off); -ENOTSUP (neither Intel PT nor samples in it, a newer layout,
 * another byte order).
 */
int recording_load(struct snapshot **ret_snapshot, const char *path);

/* Whether `path` can take a recording; to be asked before the target runs. Errors as recording_save(). */
int recording_check_target(const char *path);
