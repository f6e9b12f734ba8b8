/* SPDX-License-Identifier: BSD-2-Clause */
/* The files in which JIT compilers name their code. */
#pragma once

#include <stdbool.h>

#include "model/snapshot.h"

/*
 * Append to snapshot->copies the files that the process's compilers wrote, if any: /tmp/perf-PID.map as
 * JIT_PERF_MAP (tools/perf/Documentation/jit-interface.txt), and a jitdump that the process has mapped, as
 * perf finds it (jitdump-specification.txt), as JIT_DUMP: the first one of a process. These copies have no
 * address. The process may be gone. 0 or -ENOMEM.
 */
int jit_files_copy_map(struct snapshot *snapshot, int32_t pid);
int jit_files_copy_dump(struct snapshot *snapshot, int32_t pid, const char *path);

/* Whether a mapping's name is that of a jitdump. */
bool jit_files_is_dump(const char *path);
