/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose calls are known by reading it: no libc, fixed addresses. It calls, recurses, tail-calls,
 * calls through a pointer, and asks the kernel for something.
 *
 *	_start -> main -> leaf
 *	                  twice -> leaf, leaf
 *	                  countdown(3) -> countdown(2) -> countdown(1) -> countdown(0)
 *	                  tail => leaf (jumped to)
 *	                  [through a pointer] leaf
 *	                  getpid -> [syscall]
 *	       exit
 */
	.text
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro end name
	.size \name, . - \name
	.endm

function leaf
	nop
	ret
end leaf

function twice
	call leaf
	call leaf
	ret
end twice

function countdown
	test %edi, %edi
	jz 1f
	dec %edi
	call countdown
1:	ret
end countdown

function tail
	nop
	jmp leaf
end tail

function getpid
	mov $39, %eax
	syscall
	ret
end getpid

function main
	call leaf
	call twice
	mov $3, %edi
	call countdown
	call tail
	lea leaf(%rip), %rax
	call *%rax
	call getpid
	ret
end main

function _start
	call main
	mov $60, %eax
	xor %edi, %edi
	syscall
end _start
	.section .note.GNU-stack, "", @progbits
