/* SPDX-License-Identifier: BSD-2-Clause */
/* Where fields stand in what is shared, for entry.S and for code in the cache. */
#pragma once

#include "translate/layout.h"

/* Offsets in struct context. */
#define CTX_REGS	   0x00 /* rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15, as instructions number them */
#define CTX_FLAGS	   0x80
#define CTX_NEXT	   0x88
#define CTX_HOST	   0x90
#define CTX_POS		   0x98
#define CTX_RCX		   0xa0
#define CTX_RAX		   0xa8
#define CTX_RDX		   0xb0
#define CTX_SELF	   0xb8
#define CTX_LINK	   0xc0
#define CTX_LINK_ON	   0xc8
#define CTX_MISS	   0xd0
#define CTX_WRAP	   0xd8
#define CTX_WRAP_INDIRECT  0xe0
#define CTX_GATE	   0xe8
#define CTX_SYSCALL_NEXT   0xf0
#define CTX_SYSCALL_RESUME 0xf8
#define CTX_SITE	   0x100
#define CTX_LAPS	   0x108
#define CTX_ASKED	   0x110
#define CTX_CHILD	   0x120
#define CTX_R15		   0x128
#define CTX_BIRTH	   0x130
#define CTX_IS_PROCESS	   0x138
#define CTX_TID		   0x140
#define CTX_LAPS_NEXT	   0x148
#define CTX_STAMP	   0x150
#define CTX_STAMP_RESUME   0x158
#define CTX_STAMP_GUEST	   0x160
#define CTX_STALE	   0x168
#define CTX_IN_CALL	   0x170
#define CTX_NOT_GENERATION 0x178
#define CTX_WRAP_MISS	   0x180
#define CTX_TAKEN	   0x188
#define CTX_RING_START	   0x190

/* Offsets in struct shared. TRACER_IS_DEAD: of the byte with FUTEX_OWNER_DIED (linux/futex.h). */
#define SHARED_TRACER	      0
#define SHARED_TRACER_IS_DEAD 3
#define SHARED_LEAVE	      64
#define SHARED_GENERATION     68

#ifndef __ASSEMBLER__

_Static_assert(offsetof(struct context, flags) == CTX_FLAGS, "as entry.S has it");
_Static_assert(offsetof(struct context, next) == CTX_NEXT, "as entry.S has it");
_Static_assert(offsetof(struct context, host) == CTX_HOST, "as entry.S has it");
_Static_assert(offsetof(struct context, pos) == CTX_POS, "as entry.S has it");
_Static_assert(offsetof(struct context, ring_start) == CTX_RING_START, "as entry.S has it");
_Static_assert(offsetof(struct context, rcx) == CTX_RCX, "as entry.S has it");
_Static_assert(offsetof(struct context, rax) == CTX_RAX, "as entry.S has it");
_Static_assert(offsetof(struct context, rdx) == CTX_RDX, "as entry.S has it");
_Static_assert(offsetof(struct context, self) == CTX_SELF, "as entry.S has it");
_Static_assert(offsetof(struct context, link) == CTX_LINK, "as entry.S has it");
_Static_assert(offsetof(struct context, wrap) == CTX_WRAP, "as entry.S has it");
_Static_assert(offsetof(struct context, gate) == CTX_GATE, "as entry.S has it");
_Static_assert(offsetof(struct context, syscall_resume) == CTX_SYSCALL_RESUME, "as entry.S has it");
_Static_assert(offsetof(struct context, site) == CTX_SITE, "as entry.S has it");
_Static_assert(offsetof(struct context, laps) == CTX_LAPS, "as entry.S has it");
_Static_assert(offsetof(struct context, asked) == CTX_ASKED, "as entry.S has it");
_Static_assert(offsetof(struct context, child) == CTX_CHILD, "as entry.S has it");
_Static_assert(offsetof(struct context, r15) == CTX_R15, "as entry.S has it");
_Static_assert(offsetof(struct context, birth) == CTX_BIRTH, "as entry.S has it");
_Static_assert(offsetof(struct context, is_process) == CTX_IS_PROCESS, "as entry.S has it");
_Static_assert(offsetof(struct context, tid) == CTX_TID, "as entry.S has it");
_Static_assert(offsetof(struct context, laps_next) == CTX_LAPS_NEXT, "as entry.S has it");
_Static_assert(offsetof(struct context, stamp) == CTX_STAMP, "as entry.S has it");
_Static_assert(offsetof(struct context, stamp_resume) == CTX_STAMP_RESUME, "as entry.S has it");
_Static_assert(offsetof(struct context, stamp_guest) == CTX_STAMP_GUEST, "as entry.S has it");
_Static_assert(offsetof(struct context, stale) == CTX_STALE, "as entry.S has it");
_Static_assert(offsetof(struct context, in_call) == CTX_IN_CALL, "as entry.S has it");
_Static_assert(offsetof(struct context, not_generation) == CTX_NOT_GENERATION, "as entry.S has it");
_Static_assert(offsetof(struct context, wrap_miss) == CTX_WRAP_MISS, "as entry.S has it");
_Static_assert(offsetof(struct context, taken) == CTX_TAKEN, "as entry.S has it");
_Static_assert(offsetof(struct shared, generation) == SHARED_GENERATION, "as entry.S has it");
_Static_assert(offsetof(struct shared, leave) == SHARED_LEAVE, "as entry.S has it");

#endif
