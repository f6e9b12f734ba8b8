/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * What must not be cut short by SIGKILL: runs work(ctx) in a process of its own that has our memory and
 * descriptors, and returns what it returns. If this process is killed, the other one ends the work, and then
 * gives the descriptors back. Signals for this process wait. The work is short, and creates no thread.
 */
int aside(int (*work)(void *ctx), void *ctx);
