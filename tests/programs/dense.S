/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dense PROGRAM ARG...: makes many packets of few instructions, then executes the program. No libc, fixed
 * addresses. Each round is four instructions: a TNT packet for the conditional jump, and two TIP packets of 5
 * bytes, since the two places are further than 64 KiB from each other.
 */
	.text
	.globl _start
	.type _start, @function
_start:
	mov $17000, %ebp
	lea near(%rip), %rcx
	lea far(%rip), %rbx
near:
	dec %ebp
	jz 1f
	jmp *%rbx
1:	mov 16(%rsp), %rdi
	lea 16(%rsp), %rsi
	mov (%rsp), %rdx
	lea 16(%rsp,%rdx,8), %rdx
	mov $59, %eax
	syscall
	ud2
	.balign 65536
far:
	jmp *%rcx
	.size _start, . - _start
	.section .note.GNU-stack, "", @progbits
