/* SPDX-License-Identifier: BSD-2-Clause */
/* Other tools' return probes that a breakpoint of ours would turn against the process that we watch. */
#pragma once

#include "trigger/trigger.h"

/*
 * Looks through the kernel's uprobe_multi links (Linux 6.8 tells where they are, to CAP_SYS_ADMIN). -EBUSY
 * with a sentence where one watches returns for another process than config->pid, and is on the instruction
 * of a probe of config->triggers. 0 where there is none, or where it cannot be told. -ENOMEM.
 */
int foreign_links_check(const struct trigger_config *config);
