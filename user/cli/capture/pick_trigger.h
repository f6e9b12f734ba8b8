/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>

/* Whether a trigger is spelled "?" or "FILE:?". */
bool pick_is_wanted(const char *spec);

/*
 * Lets the user pick. *ret_spec, which the caller frees, is a trigger by name. Errors as pick() and
 * trigger_list().
 */
int pick_trigger(const char *spec, const char *exe, char **ret_spec);
