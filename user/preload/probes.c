/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The notes by which tools find the probes
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation). A probe is a nop of one byte, as in
 * user/trailcam.h.
 */
#include "preload/probes.h"

volatile uint16_t otel_memory_alloc_semaphore __attribute__((section(".probes")));
volatile uint16_t otel_memory_free_semaphore __attribute__((section(".probes")));

#define PROBE(function, provider, name, semaphore, args)                       \
	__asm__(".pushsection .text\n"                                         \
		".globl " #function "\n"                                       \
		".hidden " #function "\n"                                      \
		".type " #function ", @function\n" #function ":\n"             \
		"	.cfi_startproc\n"                                            \
		"990:	nop\n"                                                   \
		"	ret\n"                                                       \
		"	.cfi_endproc\n"                                              \
		".size " #function ", . - " #function "\n"                     \
		".popsection\n"                                                \
		".pushsection .note.stapsdt, \"\", \"note\"\n"                 \
		"	.balign 4\n"                                                 \
		"	.4byte 992f - 991f, 994f - 993f, 3\n"                        \
		"991:	.asciz \"stapsdt\"\n"                                    \
		"992:	.balign 4\n"                                             \
		"993:	.8byte 990b, _.stapsdt.base, " semaphore "\n"          \
		"	.asciz \"" provider "\", \"" name "\", \"" args "\"\n" \
		"994:	.balign 4\n"                                             \
		".popsection\n")

__asm__(".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base, 1\n"
	".popsection\n");

PROBE(otel_memory_alloc, "otel_memory", "alloc", "otel_memory_alloc_semaphore", "8@%rdi 8@%rsi 8@%rdx");
PROBE(otel_memory_free, "otel_memory", "free", "otel_memory_free_semaphore", "8@%rdi");
PROBE(trailcam_alloc_forgotten, "trailcam", "alloc_forgotten", "0", "8@%rdi");
