/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "model/snapshot.h"

/*
 * Gives each code copy of a fresh snapshot, which holds its bytes in memory, a file that decoding can map: an
 * unnamed one, so that nothing is left anywhere however this process ends. `fds` are closed by
 * code_files_close(); the snapshot must not be decoded after that.
 */
struct code_files {
	int *fds;
	size_t cnt;
};

int code_files_open(struct code_files *copies, struct snapshot *snapshot);
void code_files_close(struct code_files *copies);
