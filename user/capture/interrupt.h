/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the recording instead of this program. Those that did
 * not come from the terminal (which sends them to the target, too) are passed on to `target`; 0: to nobody.
 */
void interrupt_watch(pid_t target);

/* The signal that came, or 0. */
int interrupt_pending(void);

/*
 * From here on each wait is interrupted (EINTR) once in `ns` nanoseconds, for the clock to be looked at; 0:
 * no more.
 */
void interrupt_waits(uint64_t ns);

/* The target is gone: nothing is passed on any more. */
void interrupt_target_gone(void);

/* From here on the death of the parent process ends the recording, too: see interrupt_orphaned(). */
void interrupt_watch_parent(void);

/* The parent process has died: nobody waits for a trace any more. */
bool interrupt_orphaned(void);
