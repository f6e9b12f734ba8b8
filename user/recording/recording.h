/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording is a directory in perf.data's directory form, which stock `perf script -i DIR` decodes too:
 *
 *	DIR/data		perf.data: attributes, sideband, AUXTRACE_INFO, AUXTRACE, hits
 *	DIR/kcore_dir/		the kernel's code and names, where it was traced (as perf
 *				record --kcore has them)
 *	DIR/code		code bytes that files on disk do not give: JIT, patched pages
 *	DIR/code.PID.ADDR.NS	what needs a file of its own: vDSO, the compilers' lists of their code
 *
 * Formats: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/{header,intel-pt}.c. Hits,
 * trigger names and the list of code copies travel in a header feature section whose number perf does not
 * know and passes over.
 */
#pragma once

#include "model/snapshot.h"

#define RECORDING_DATA	     "data"
#define RECORDING_CODE	     "code"
#define RECORDING_KERNEL_DIR "kcore_dir" /* as perf record --kcore names it */

/*
 * Writes `snapshot` to the directory `path`, which only its owner may enter, and sets the file_offset of
 * its copies of code (snapshot_lay_copies()). The directory is made under a temporary name beside it and
 * renamed at the end, so a killed or failed save leaves nothing under `path`. An empty directory or an older
 * recording of ours is replaced (recording/takeover.h). With a sentence: -EEXIST: `path` is anything else;
 * -EBUSY: it is a mount point; -ENOSPC and other errors of system calls.
 */
int recording_save(struct snapshot *snapshot, const char *path);

/*
 * Reads a recording: a directory, or a perf.data file. Errors, with a sentence that names the file: -ENOENT;
 * -EBADMSG: not a recording, damaged, cut off; -ENOTSUP: neither Intel PT nor samples in it, a newer layout,
 * another byte order.
 */
int recording_load(struct snapshot **ret_snapshot, const char *path);

/* Checks that `path` can take a recording, before the target runs. Errors as recording_save(). */
int recording_check_target(const char *path);
