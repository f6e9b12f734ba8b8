/* SPDX-License-Identifier: BSD-2-Clause */
/* What the target must not notice of being stepped. All of it is about threads in a ptrace stop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/step_thread.h"

/* A member of struct user_regs_struct, by its offset. */
uint64_t step_register(const struct step_thread *thread, size_t offset);
uint64_t step_ip(const struct step_thread *thread);

/* si_code of the signal that it stopped for; 0 where there is none. */
int step_siginfo_code(const struct step_thread *thread);

/* pushf has just shown the trap flag to the target: puts it right on its stack. */
void step_hide_trap_flag(const struct step_thread *thread);

/*
 * The kernel forces a step's SIGTRAP on the target: where that is blocked, it unblocks it and resets its handler for good. So SIGTRAP is never
 * left blocked while the target is stepped; what the target wanted is remembered for when it is let go.
 */
void step_unblock_trap(struct step_thread *thread);
void step_block_trap_again(const struct step_thread *thread);

/* The target has just changed its signal mask by rt_sigprocmask(how, set, ...) or rt_sigreturn(). */
void step_mask_changed(struct step_thread *thread, long syscall_nr);

/* Whether the signal that it stopped for is none of the target's: a step's SIGTRAP, or the SIGSTOP with which a probe stops a thread. */
bool step_is_own_signal(const struct step_thread *thread, int signal);

/* Such a signal is queued, but not reported yet: without a tracer it would kill, or stop for good. */
bool step_own_signal_is_queued(const struct step_thread *thread);

/*
 * Stopping a thread by PTRACE_INTERRUPT makes some system calls fail with EINTR although no signal came (signal(7), "Interruption of system
 * calls and library functions by stop signals"). Such a call is made again.
 */
void step_undo_eintr(const struct step_thread *thread);
