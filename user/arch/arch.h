/* SPDX-License-Identifier: BSD-2-Clause */
/* What an architecture brings: its folder beside this file has each of these headers. */
#pragma once

#include "arch/x86_64/registers.h" /* enum hit_reg: the registers of a hit */
