/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an architecture brings. Its folder beside this file has each of these headers, with the same names in
 * it. Code that knows instructions stays with what it is about: those of the kernel's uprobes in probe/,
 * those of branches in decode/ and source/, those of functions' beginnings in elf/, what is put into programs
 * in process/, source/step, source/translate and translate/. `make lint` looks for names of registers
 * elsewhere.
 */
#pragma once

#include "arch/x86_64/call_filter.h" /* what a filter of system calls does to one */
#include "arch/x86_64/machine.h"   /* names, calling conventions, numberings, addresses, ELF, instructions */
#include "arch/x86_64/registers.h" /* enum hit_reg: the registers of a hit; for BPF programs, too */
#include "arch/x86_64/syscalls.h"  /* system calls by number */
#include "arch/x86_64/thread_regs.h" /* the registers of a thread that ptrace holds */
#include "arch/x86_64/uprobe_page.h" /* code that the kernel puts into a process */
