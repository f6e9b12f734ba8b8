/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * Returns fn(argc, argv), run with a stack of 8 MiB whatever `ulimit -s` says; later threads have the same.
 * Does not change limits, because the traced program inherits them.
 */
int own_stack_run(int (*fn)(int argc, char **argv), int argc, char **argv);
