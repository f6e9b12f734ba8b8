/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our own probes change the program's path: the kernel executes the probed instruction elsewhere, and a
 * probed return makes a detour. The processor traces both. Nobody asked for them, so they are taken out.
 */
#pragma once

#include "history/history.h"
#include "model/branch.h"

/*
 * Removes the branches into, within and out of the kernel's code for uprobes from the list. `process` may be
 * NULL. Returns how many are left.
 *
 *	interrupt+end f; start SLOT; interrupt+end SLOT; start f+4		-> interrupt+end f; start f+4
 *	return -> TRAMPOLINE; syscall+end; start r				-> return -> r
 *	call -> TRAMPOLINE; syscall+end; start TRAMPOLINE; return -> f+5	-> nothing
 */
size_t uprobe_code_hide(const struct history_process *process, struct branch *branches, size_t cnt);
