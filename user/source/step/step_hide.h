/* SPDX-License-Identifier: BSD-2-Clause */
/* Hides from the target that it is single-stepped. All of these take threads in a ptrace stop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/step/step_thread.h"

/* A member of struct user_regs_struct, by its offset. */
uint64_t step_register(const struct step_thread *thread, size_t offset);
uint64_t step_ip(const struct step_thread *thread);

/* pushf has just stored the trap flag on the target's stack: clears it there. */
void step_hide_trap_flag(const struct step_thread *thread);

/* Whether the trap flag is set and the kernel considers it the target's own. */
bool step_has_trap_flag(const struct step_thread *thread);

/*
 * Once an instruction that loads flags was stepped, the kernel considers the trap flag the target's own
 * (arch/x86/kernel/step.c). The flag would then appear in signal frames and children, and stay set after a
 * detach. Clears it.
 */
void step_take_back_trap_flag(const struct step_thread *thread);

/*
 * The kernel forces a step's SIGTRAP on the target: if the target blocks SIGTRAP, the kernel unblocks it and
 * resets its handler for good. So SIGTRAP is unblocked while an instruction is stepped. It is blocked again,
 * if the target wants that, for system calls, for handlers, and before a detach.
 */
void step_unblock_trap(struct step_thread *thread);
void step_block_trap_again(const struct step_thread *thread);

/* Whether a SIGTRAP waits for the target to unblock it. */
bool step_trap_is_pending(const struct step_thread *thread);

/* Whether the kernel knows the signal as ignored. */
bool step_is_ignored(const struct step_thread *thread, int signal);

/*
 * Whether the thread is in, or has just returned from, a system call that waits with a temporary signal mask
 * (rt_sigsuspend(2), ppoll(2)). That mask still applies to the signal about to be delivered; setting a mask
 * now would lose the signal.
 */
bool step_mask_is_passing(const struct step_thread *thread);

/* Whether the target has a handler for the signal. */
bool step_is_caught(const struct step_thread *thread, int signal);

/* What the system call that has just ended returns. */
long step_syscall_result(const struct step_thread *thread);

/* For struct session_driver: whether a SIGTRAP is a step's. */
bool step_is_own_trap(const struct session_thread *thread, const siginfo_t *info);
