/* SPDX-License-Identifier: BSD-2-Clause */
	.section .rodata
	.globl runtime_file_begin, runtime_file_end
	.balign 16
runtime_file_begin:
	.incbin "user/translate/runtime.bin"
runtime_file_end:
	.section .note.GNU-stack, "", @progbits
