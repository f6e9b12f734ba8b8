/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways into the runtime and out of it. All that the program can see is kept: registers, flags, its stack
 * below and above rsp. What is between the cache and the C code runs with the flags of the program: no
 * instruction here may change them before they are saved.
 */
#include "translate/offsets.h"

	.section .text.entry, "ax"
	.globl runtime_begin
runtime_begin:
	.quad start - runtime_begin
	.quad link - runtime_begin
	.quad link_on - runtime_begin
	.quad miss - runtime_begin
	.quad wrap - runtime_begin
	.quad wrap_indirect - runtime_begin
	.quad gate - runtime_begin
	.quad go_syscall - runtime_begin
	.quad go_birth - runtime_begin
	.quad sigreturned - runtime_begin
	.quad report - runtime_begin
	.quad stale - runtime_begin
	.quad wrap_miss - runtime_begin
	.quad taken - runtime_begin
	.quad syscall_saved - runtime_begin
	.quad syscalled - runtime_begin
	.quad after_saved - runtime_begin
	.quad after_end - runtime_begin
	.quad birth_saved - runtime_begin
	.quad born - runtime_begin
	.quad born_saved - runtime_begin
	.quad born_end - runtime_begin
	.quad stamp - runtime_begin
	.quad stamp_saved - runtime_begin
	.quad stamp_end - runtime_begin
	.quad restore - runtime_begin
	.quad restored - runtime_begin
	.quad landed - runtime_begin
	.quad runtime_end - runtime_begin

	.macro SAVE
	mov %rax, %gs:CTX_REGS + 0
	mov %rcx, %gs:CTX_REGS + 8
	mov %rdx, %gs:CTX_REGS + 16
	mov %rbx, %gs:CTX_REGS + 24
	mov %rsp, %gs:CTX_REGS + 32
	mov %rbp, %gs:CTX_REGS + 40
	mov %rsi, %gs:CTX_REGS + 48
	mov %rdi, %gs:CTX_REGS + 56
	mov %r8, %gs:CTX_REGS + 64
	mov %r9, %gs:CTX_REGS + 72
	mov %r10, %gs:CTX_REGS + 80
	mov %r11, %gs:CTX_REGS + 88
	mov %r12, %gs:CTX_REGS + 96
	mov %r13, %gs:CTX_REGS + 104
	mov %r14, %gs:CTX_REGS + 112
	mov %r15, %gs:CTX_REGS + 120
	mov %gs:CTX_SELF, %rdi
	lea SLOT_STACK_TOP(%rdi), %rsp
	pushfq
	popq %gs:CTX_FLAGS
	/* Neither direction nor alignment checks. */
	pushq $2
	popfq
	.endm

start:
	SAVE
	mov $WHY_GO, %esi
	jmp enter

link:
	SAVE
	mov $WHY_LINK, %esi
	jmp enter

	/* The number of the site is in the context, of these two. */
link_on:
	SAVE
	mov $WHY_LINK_ON, %esi
	jmp enter

taken:
	SAVE
	mov $WHY_TAKEN, %esi
	jmp enter

	/* The target, which is in rcx, has no entry. */
miss:
	mov %rcx, %gs:CTX_NEXT
	mov %gs:CTX_RCX, %rcx
	mov %gs:CTX_RAX, %rax
	SAVE
	mov $WHY_MISS, %esi
	jmp enter

wrap_indirect:
	mov %gs:CTX_RAX, %rax
wrap:
	mov %gs:CTX_RCX, %rcx
	SAVE
	mov $WHY_WRAP, %esi
	jmp enter

	/* The target is in the context. */
wrap_miss:
	mov %gs:CTX_RAX, %rax
	mov %gs:CTX_RCX, %rcx
	SAVE
	mov $WHY_WRAP_MISS, %esi
	jmp enter

sigreturned:
	SAVE
	mov $WHY_SIGRETURN, %esi
	jmp enter

special:
	SAVE
	mov $WHY_SYSCALL, %esi
	jmp enter

	/* rcx: number of the block */
stale:
	mov %rcx, %gs:CTX_SITE
	mov %gs:CTX_RCX, %rcx
	mov %gs:CTX_RAX, %rax
	SAVE
	mov $WHY_STALE, %esi
	jmp enter

report:
	SAVE
	mov $WHY_REPORT, %esi

	/* rdi: the context, esi: why. Goes on in the cache, or wherever the C code says. */
enter:
	call runtime_enter
	mov %rax, %gs:CTX_HOST
restore:
	mov %gs:CTX_ASKED, %rcx
	jrcxz 1f
	mov %gs:CTX_SELF, %rdi
	lea SLOT_STACK_TOP(%rdi), %rsp
	call runtime_answer
	mov %rax, %gs:CTX_HOST
	jmp restore
1:
	pushq %gs:CTX_FLAGS
	popfq
	mov %gs:CTX_REGS + 0, %rax
	mov %gs:CTX_REGS + 8, %rcx
	mov %gs:CTX_REGS + 16, %rdx
	mov %gs:CTX_REGS + 24, %rbx
	mov %gs:CTX_REGS + 32, %rsp
	mov %gs:CTX_REGS + 40, %rbp
	mov %gs:CTX_REGS + 48, %rsi
	mov %gs:CTX_REGS + 56, %rdi
	mov %gs:CTX_REGS + 64, %r8
	mov %gs:CTX_REGS + 72, %r9
	mov %gs:CTX_REGS + 80, %r10
	mov %gs:CTX_REGS + 88, %r11
	mov %gs:CTX_REGS + 96, %r12
	mov %gs:CTX_REGS + 104, %r13
	mov %gs:CTX_REGS + 112, %r14
	mov %gs:CTX_REGS + 120, %r15
	jmp *%gs:CTX_HOST
restored:

	/* long change_mask(rdi, rsi, rdx, rcx): rt_sigprocmask(2), for the C code. */
	.globl change_mask
change_mask:
	mov %rcx, %r10
	mov $14, %eax
	syscall
landed:
	ret

	/* Appends a word at rcx, the ring's position. */
	.macro APPEND word
	movl \word, %gs:(%rcx)
	lea 4(%rcx), %rcx
	jrcxz 1f
	jmp 2f
1:	mov %gs:CTX_LAPS_NEXT, %rcx
	lea 1(%rcx), %rcx
	mov %rcx, %gs:CTX_LAPS_NEXT
	mov %gs:CTX_RING_START, %rcx
2:
	.endm

	/* rax and rdx are saved to be restored. */
	.macro SAVE_FOR_STAMP
	mov %rax, %gs:CTX_RAX
	mov %rdx, %gs:CTX_RDX
	.endm

	.macro STAMP tag
	mov %gs:CTX_POS, %rcx
	STAMP_HERE \tag
	.endm

	/* rcx: the ring's position */
	.macro STAMP_HERE tag
	rdtsc
	APPEND %eax
	APPEND %edx
	APPEND $\tag
	mov %rcx, %gs:CTX_POS
	mov %gs:CTX_LAPS_NEXT, %rax
	mov %rax, %gs:CTX_LAPS
	mov %gs:CTX_RAX, %rax
	mov %gs:CTX_RDX, %rdx
	.endm

	/*
	 * A system call, which leaves rcx and r11 to us. rcx: the guest address behind it; r11: where the
	 * cache goes on. No comparison: the flags are the program's.
	 */
gate:
	mov %rcx, %gs:CTX_SYSCALL_NEXT
	mov %r11, %gs:CTX_SYSCALL_RESUME
	mov $ARENA_BASE, %r11
	movzbl SHARED_TRACER + SHARED_TRACER_IS_DEAD(%r11), %ecx
	jrcxz 1f
	jmp special
1:	mov SHARED_LEAVE(%r11), %ecx
	jrcxz 1f
	jmp special
1:	mov %gs:CTX_ASKED, %rcx
	jrcxz 1f
	jmp special
1:
	/* In two parts: jrcxz does not reach far. */
	.irp number, 9, 10, 11, 15, 25, 28, 30, 56, 57, 58, 67, 97
	lea -\number(%rax), %ecx
	jrcxz 3f
	.endr
	jmp 4f
3:	jmp special
4:
	.irp number, 151, 157, 158, 160, 302, 317, 329, 334, 435
	lea -\number(%rax), %ecx
	jrcxz 3f
	.endr
	jmp go_syscall
3:	jmp special
go_syscall:
	SAVE_FOR_STAMP
syscall_saved:
	STAMP RING_BEFORE
	movq $1, %gs:CTX_IN_CALL
	syscall
syscalled:
	SAVE_FOR_STAMP
	/*
	 * Who flushes the cache does not wait for a thread in a call. xchg: the generation is read after the
	 * others can see that it is back. Who leaves does so at once: native threads may have changed code.
	 */
after_saved:
	mov $0, %ecx
	xchg %rcx, %gs:CTX_IN_CALL
	movabs $ARENA_BASE, %rdx
	mov SHARED_LEAVE(%rdx), %ecx
	jrcxz 1f
	jmp 2f
1:	mov SHARED_GENERATION(%rdx), %ecx
	mov %gs:CTX_NOT_GENERATION, %rdx
	lea 1(%rcx, %rdx), %rcx
	jrcxz 3f
2:	lea report(%rip), %rcx
	mov %rcx, %gs:CTX_SYSCALL_RESUME
3:
	STAMP RING_AFTER
	mov %gs:CTX_SYSCALL_NEXT, %rcx
	jmp *%gs:CTX_SYSCALL_RESUME
after_end:

	/*
	 * The child begins with its context in r15, and the same memory as its parent: that
	 * may be anywhere by then.
	 */
go_birth:
	SAVE_FOR_STAMP
	mov %r15, %gs:CTX_R15
birth_saved:
	STAMP RING_BEFORE
	movq $1, %gs:CTX_IN_CALL
	mov %gs:CTX_CHILD, %r15
	syscall
born:
	mov %rax, %rcx
	jrcxz 1f
	mov %rax, %gs:CTX_BIRTH
	mov %gs:CTX_R15, %r15
	jmp syscalled
1:
	wrgsbase %r15
	mov %gs:CTX_IS_PROCESS, %rcx
	jrcxz 1f
	mov %gs:CTX_SYSCALL_NEXT, %rcx
	mov %gs:CTX_R15, %r15
born_saved:
	movl $0, %gs:CTX_TID
	mov $0, %r11d
	wrgsbase %r11
	jmp *%rcx
1:	mov %gs:CTX_R15, %r15
	jmp syscalled
born_end:

	/*
	 * The place and the time of a probe. rcx: where the cache goes on; the program's is in the
	 * context.
	 */
stamp:
	mov %rcx, %gs:CTX_STAMP_RESUME
	mov %gs:CTX_ASKED, %rcx
	jrcxz 1f
	mov %gs:CTX_STAMP_GUEST, %rcx
	mov %rcx, %gs:CTX_NEXT
	mov %gs:CTX_RCX, %rcx
	jmp start
1:	SAVE_FOR_STAMP
stamp_saved:
	mov %gs:CTX_POS, %rcx
	mov %gs:CTX_STAMP_GUEST, %eax
	APPEND %eax
	mov %gs:CTX_STAMP_GUEST + 4, %eax
	APPEND %eax
	APPEND $RING_AT
	STAMP_HERE RING_TIME
	mov %gs:CTX_RCX, %rcx
	jmp *%gs:CTX_STAMP_RESUME
stamp_end:

	.section .note.GNU-stack, "", @progbits
