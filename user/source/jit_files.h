/* SPDX-License-Identifier: BSD-2-Clause */
/* The files in which JIT compilers tell the names of their code. */
#pragma once

#include "model/snapshot.h"

/*
 * Appends to snapshot->copies what the process's compilers wrote, where they did: /tmp/perf-PID.map as
 * JIT_PERF_MAP (tools/perf/Documentation/jit-interface.txt), and a jitdump that it has mapped, as perf finds
 * it (jitdump-specification.txt), as JIT_DUMP. Their copies stand at no address. The process may be gone. 0
 * or -ENOMEM.
 */
int jit_files_copy(struct snapshot *snapshot, int32_t pid);
