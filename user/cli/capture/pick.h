/* SPDX-License-Identifier: BSD-2-Clause */
/* Picking one of many lines on the terminal: with fzf where it is installed, else with a plain filter. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * *ret_choice is the index of the line picked. `what` says what is picked, for the prompt and messages.
 * -ENOTTY: there is no terminal; -ECANCELED: nothing was picked; -ENOENT: there are no lines; each with a
 * sentence.
 */
int pick(const char *what, char *const *lines, size_t cnt, size_t *ret_choice);

/* Whether a trigger is spelled "?" or "FILE:?". */
bool pick_is_wanted(const char *spec);

/*
 * Lets the user pick. *ret_spec, which the caller frees, is a trigger by name. Errors as pick() and
 * trigger_list().
 */
int pick_trigger(const char *spec, const char *exe, char **ret_spec);
