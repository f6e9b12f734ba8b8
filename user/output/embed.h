/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/* A file as text in the program. The Makefile makes the object depend on it. */
#define EMBED(name, path)                                                                        \
	__asm__(".pushsection .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.popsection"); \
	extern const char name[]
