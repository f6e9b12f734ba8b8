/* SPDX-License-Identifier: BSD-2-Clause */
/* Picking one of many lines on the terminal: with fzf where it is installed, else with a plain filter. */
#pragma once

#include <stddef.h>

/*
 * *ret_choice is the index of the line picked. `what` says what is picked, for the prompt and messages.
 * -ENOTTY: there is no terminal; -ECANCELED: nothing was picked; -ENOENT: there are no lines; each with a
 * sentence.
 */
int pick(const char *what, char *const *lines, size_t cnt, size_t *ret_choice);
