/* SPDX-License-Identifier: BSD-2-Clause */
#include "translate/layout.h"

	.section .rodata
	.globl runtime_file_begin, runtime_file_end
	.balign 16
runtime_file_begin:
	.incbin "user/translate/runtime.bin"
runtime_file_end:

	/* What probes are put on (translate/layout.h): mapped into the program from this program's file. */
	.section .text.nops, "ax", @progbits
	.globl nops_begin
	.balign 4096
nops_begin:
	.set number, 0
	.rept NOPS_MAX
	nop
	.byte 0xff, 0x25 /* jmp *resume */
	.long ARENA_BASE + ARENA_RESUMES - NOPS_AT - 7 + number * (8 - NOP_SIZE)
	.balign NOP_SIZE
	.set number, number + 1
	.endr

	.section .note.GNU-stack, "", @progbits
