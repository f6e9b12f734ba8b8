/* SPDX-License-Identifier: BSD-2-Clause */
/* What the BPF programs and everything above them mean by a hit, however it is laid out. */
#pragma once

/* As many arguments as a USDT probe has at most (sys/sdt.h). */
enum { HIT_STACK_MAX = 64, HIT_COMM_BYTES = 16, HIT_ARG_CNT = 12 };

/* What the program does with a hit; chosen per probe, carried in the link's cookie. */
enum hit_action {
	HIT_RECORD = 0,	     /* note it, the recording goes on */
	HIT_STOP = 1u << 0,  /* ends the recording: user space is woken */
	HIT_START = 1u << 1, /* the thread is stopped (SIGSTOP) where it is, for a source that starts here */
	/*
	 * at a return instruction: `begin_ns` and `args` are those of the call's beginning, the registers and
	 * the stack what its caller has next
	 */
	HIT_RETURN = 1u << 2,
	/* arg0 may be when something began, in ns (user/trailcam.h): if it can be, it is `begin_ns` */
	HIT_MARK = 1u << 3,
};
