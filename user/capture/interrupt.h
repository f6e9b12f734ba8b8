/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Until interrupt_watch() SIGINT, SIGTERM, SIGHUP and SIGQUIT end this program, as they do by themselves, but
 * with a sentence.
 */
void interrupt_end_early(void);

/*
 * From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the recording instead of this program. They are
 * forwarded to `target` (0: to nobody), unless they come from the terminal, which sends them to the target
 * itself.
 */
void interrupt_watch(pid_t target);

/*
 * The recording is over, and what it gave is written from now on: these signals end this program, but for the
 * first since interrupt_watch(), which says so, and what comes within a second of it. While `target` lives
 * they are for it alone.
 */
void interrupt_end_writing(void);

/* From now on these signals are for `worker` alone, forwarded as above. */
void interrupt_pass_on(pid_t worker);

/* The signal that has come, or 0. */
int interrupt_pending(void);

/*
 * From now on every wait is interrupted (EINTR) every `ns` nanoseconds, so that the caller can check the
 * clock; 0: no more.
 */
void interrupt_waits(uint64_t ns);

/* The target is gone: no signal is forwarded any more. */
void interrupt_target_gone(void);

/* From now on the death of the parent process ends the recording, too: see interrupt_orphaned(). */
void interrupt_watch_parent(void);

/* Whether the parent process has died: nobody waits for a trace any more. */
bool interrupt_orphaned(void);
