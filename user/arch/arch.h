/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an architecture brings. Its folder beside this file has each of these headers, with the same names in
 * it. Code that knows instructions stays with what it is about: those of the kernel's uprobes in probe/,
 * those of branches in decode/ and source/, what is put into programs in process/, source/step and
 * translate/.
 */
#pragma once

#include "arch/x86_64/machine.h" /* arch_*: calling conventions, numberings, addresses, single instructions */
#include "arch/x86_64/registers.h" /* enum hit_reg: the registers of a hit; for BPF programs, too */
