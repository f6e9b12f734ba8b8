/* SPDX-License-Identifier: BSD-2-Clause */
/* What the target must not notice of being stepped. All of it is about threads in a ptrace stop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/step/step_thread.h"

/* A member of struct user_regs_struct, by its offset. */
uint64_t step_register(const struct step_thread *thread, size_t offset);
uint64_t step_ip(const struct step_thread *thread);

/* pushf has just shown the trap flag to the target: puts it right on its stack. */
void step_hide_trap_flag(const struct step_thread *thread);

/* Whether the trap flag is set that the kernel takes for the target's own. */
bool step_has_trap_flag(const struct step_thread *thread);

/*
 * Where an instruction that loads flags is stepped, the kernel takes the trap flag for the target's own from
 * then on (arch/x86/kernel/step.c): it would be in the frames of its signals, in its children, and in itself
 * when it is let go. Clears it.
 */
void step_take_back_trap_flag(const struct step_thread *thread);

/*
 * The kernel forces a step's SIGTRAP on the target: where that is blocked, it unblocks it and resets its
 * handler for good. So SIGTRAP is not left blocked while an instruction is stepped. It is again, where the
 * target wants it, for system calls, for handlers, and when it is let go.
 */
void step_unblock_trap(struct step_thread *thread);
void step_block_trap_again(const struct step_thread *thread);

/* Whether a SIGTRAP waits for the target to unblock it. */
bool step_trap_is_pending(const struct step_thread *thread);

/* Whether the kernel knows the signal as ignored. */
bool step_is_ignored(const struct step_thread *thread, int signal);

/*
 * Whether the thread is in a call that waits with another mask, or has just come back from it: that is in
 * force for the signal that ended it, which is about to be delivered, and setting a mask would lose it
 * (rt_sigtimedwait(2) and its kin).
 */
bool step_mask_is_passing(const struct step_thread *thread);

/* Whether the target has a handler for the signal. */
bool step_is_caught(const struct step_thread *thread, int signal);

/* What the system call that has just ended returns. */
long step_syscall_result(const struct step_thread *thread);

/* For struct session_driver: whether a SIGTRAP is a step's. */
bool step_is_own_trap(const struct session_thread *thread, const siginfo_t *info);
