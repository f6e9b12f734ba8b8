/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What our own probes make a program do: the probed instruction is executed somewhere else, and a probed
 * return takes a way round. The processor traces it, but nobody asked for it.
 */
#pragma once

#include "history/history.h"
#include "model/branch.h"

/*
 * Takes the branches into, within and out of the kernel's code for uprobes off the list; `process` may be
 * NULL. Returns how many are left.
 *
 *	interrupt+end f; start SLOT; interrupt+end SLOT; start f+4		-> interrupt+end f; start f+4
 *	return -> TRAMPOLINE; syscall+end; start r				-> return -> r
 *	call -> TRAMPOLINE; syscall+end; start TRAMPOLINE; return -> f+5	-> nothing
 */
size_t uprobe_code_hide(const struct history_process *process, struct branch *branches, size_t cnt);
