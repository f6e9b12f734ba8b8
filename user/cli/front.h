/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * Does work(ctx) in a child process, the worker, and returns its exit status; where a signal kills the
 * worker, this process dies of the same.
 *
 * The point is kill -9. A stepped thread whose tracer dies in the middle of a step dies of that step's
 * SIGTRAP. So what the user sees, and may kill, is this process, which traces nothing; the worker is told of
 * its death and lets the target go in good order.
 */
int front_run(int (*work)(void *ctx), void *ctx);

/*
 * Ends as a process with this wait status did: its exit status to return, or death by the same signal,
 * without a core of our own.
 */
int end_as(int wait_status);
