/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "model/snapshot.h"

/*
 * Gives each code copy of a fresh snapshot, which holds its bytes in memory, a file that decoding can map: an unnamed one, so that nothing
 * is left anywhere however this process ends. `fds` are closed by copies_release(); the snapshot must not be decoded after that.
 */
struct copies {
	int *fds;
	size_t cnt;
};

int copies_init(struct copies *copies, struct snapshot *snapshot);
void copies_release(struct copies *copies);
