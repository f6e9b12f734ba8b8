/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * The program that `name` runs, and the one whose code will run (process/program.h); the caller frees both.
 * 0, or a status for `run`: the sentence is printed.
 */
int front_find_program(const char *name, char **ret_path, char **ret_binary);

/* The exit status for a program that cannot be executed, with this error. */
int front_exec_status(int err);

/*
 * Runs work(ctx) in a child process, the worker, and returns its exit status. If a signal kills the worker,
 * this process dies of the same signal.
 *
 * This is for kill -9: if a tracer dies in the middle of a step, the step's SIGTRAP kills the stepped thread.
 * So the process that the user sees, and may kill, traces nothing. The worker hears of its death, and
 * detaches properly.
 */
int front_run(int (*work)(void *ctx), void *ctx);

/*
 * Ends like a process with this wait status: returns its exit status, or dies of the same signal, without a
 * core dump.
 */
int end_as(int wait_status);
