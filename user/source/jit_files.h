/* SPDX-License-Identifier: BSD-2-Clause */
/* The files in which JIT compilers name their code. */
#pragma once

#include "model/snapshot.h"

/*
 * Appends to snapshot->copies the files that the process's compilers wrote, if any: /tmp/perf-PID.map as
 * JIT_PERF_MAP (tools/perf/Documentation/jit-interface.txt), and a jitdump that the process has mapped, as
 * perf finds it (jitdump-specification.txt), as JIT_DUMP. These copies have no address. The process may be
 * gone. 0 or -ENOMEM.
 */
int jit_files_copy(struct snapshot *snapshot, int32_t pid);
