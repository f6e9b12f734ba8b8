/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For programs that know themselves when something went wrong: include this (C11 or C++11, x86-64, there is
 * nothing to link), and run them under `trailcam run -t . -- PROGRAM`.
 *
 *	uint64_t start = trailcam_mark_start();
 *	handle(request);
 *	if (request->failed)
 *		trailcam_snapshot(start, request->id);
 *
 * When nobody watches, a mark costs one reading of the clock and a snapshot a call of an empty function.
 */
#ifndef TRAILCAM_H
#define TRAILCAM_H

#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Now, for trailcam_snapshot(): CLOCK_MONOTONIC in ns. */
static inline uint64_t trailcam_mark_start(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* What is probed; call trailcam_snapshot(). */
void trailcam_snapshot_indicator(uint64_t start, uint64_t value);

/*
 * A hit, here and now. The trace shows it as lasting from `start` (trailcam_mark_start(); 0: it has no
 * beginning) until now, with `value`, which may be any number that helps.
 */
static inline void trailcam_snapshot(uint64_t start, uint64_t value)
{
	trailcam_snapshot_indicator(start, value);
}

/*
 * One copy in a program however many files include this (a COMDAT group). It begins with a nop of one byte,
 * which every kernel emulates. Linux 6.18 replaces a probed nop of five bytes by a call, and children that
 * are forked die of that. The note describes the same place as the USDT probe trailcam:snapshot, for programs
 * without symbols (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
 */
__asm__(".pushsection .text.trailcam_snapshot_indicator, \"axG\", @progbits, trailcam_snapshot_indicator, "
	"comdat\n"
	".weak trailcam_snapshot_indicator\n"
	".type trailcam_snapshot_indicator, @function\n"
	"trailcam_snapshot_indicator:\n"
	"	nop\n"
	"	ret\n"
	".size trailcam_snapshot_indicator, . - trailcam_snapshot_indicator\n"
	".pushsection .note.stapsdt, \"?\", \"note\"\n"
	"	.balign 4\n"
	"	.4byte 992f - 991f, 994f - 993f, 3\n"
	"991:	.asciz \"stapsdt\"\n"
	"992:	.balign 4\n"
	"993:	.8byte trailcam_snapshot_indicator\n"
	"	.8byte _.stapsdt.base\n"
	"	.8byte 0\n"
	"	.asciz \"trailcam\"\n"
	"	.asciz \"snapshot\"\n"
	"	.asciz \"8@%rdi 8@%rsi\"\n"
	"994:	.balign 4\n"
	".popsection\n"
	".popsection\n"
	".ifndef _.stapsdt.base\n"
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base, 1\n"
	".popsection\n"
	".endif\n");

#ifdef __cplusplus
}
#endif
#endif
