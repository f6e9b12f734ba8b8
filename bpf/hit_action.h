/* SPDX-License-Identifier: BSD-2-Clause */
/* Constants of hits, for the BPF programs and user space. */
#pragma once

/* HIT_ARG_CNT: as many arguments as a USDT probe can have (sys/sdt.h). */
enum { HIT_STACK_MAX = 64, HIT_COMM_BYTES = 16, HIT_ARG_CNT = 12 };

/* What the BPF program does with a hit; set per probe, in the link's cookie. */
enum hit_action {
	HIT_RECORD = 0,	     /* record it; the recording goes on */
	HIT_STOP = 1u << 0,  /* end the recording: wake user space */
	HIT_START = 1u << 1, /* stop the thread (SIGSTOP) for a source that starts here */
	/*
	 * at a return instruction: `begin_ns` and `args` are of the call's beginning, registers and stack as
	 * the caller gets them
	 */
	HIT_RETURN = 1u << 2,
	/* arg0 may be a begin time in ns (user/trailcam.h): if it is plausible, it becomes `begin_ns` */
	HIT_MARK = 1u << 3,
	/* by user space: the call stack ends where it does because it could not be followed further */
	HIT_CUT = 1u << 4,
};
