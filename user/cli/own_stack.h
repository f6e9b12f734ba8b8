/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * Returns fn(argc, argv), with a stack of 8 MiB whatever `ulimit -s` says; so have threads that are made from
 * then on. Limits stay as they are: the traced program inherits them.
 */
int own_stack_run(int (*fn)(int argc, char **argv), int argc, char **argv);
