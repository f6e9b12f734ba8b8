/* SPDX-License-Identifier: BSD-2-Clause */
/* What is printed with hits of a trigger without --print: what the debug information knows. */
#pragma once

struct field_lookup;
struct trigger;

/*
 * Sets the trigger's prints: the parameters of its function, the fields of structs that they point to, and
 * the return value if hits are returns. Unlike those of --print, they change neither where a hit is nor what
 * is one. None where there is no debug information, or the trigger has many functions. 0 or -ENOMEM.
 */
int condition_add_values(struct trigger *trigger, const struct field_lookup *lookup);
