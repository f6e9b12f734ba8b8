/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other tools' return probes: a breakpoint of ours on the same instruction would make them change our target,
 * too (docs/troubleshooting.md).
 */
#pragma once

#include "trigger/trigger.h"

/*
 * Searches the kernel's uprobe_multi links (which Linux 6.8 and later shows with CAP_SYS_ADMIN). -EBUSY with
 * a sentence: one watches returns of another process than config->pid, on the instruction of a probe of
 * config->triggers. 0: none does, or it cannot be told. -ENOMEM.
 */
int foreign_links_check(const struct trigger_config *config);
