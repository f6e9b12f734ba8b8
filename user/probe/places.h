/* SPDX-License-Identifier: BSD-2-Clause */
/* From a parsed trigger spec to probes in one file. */
#pragma once

#include <stdbool.h>

#include "elf/elf_file.h"
#include "model/trigger.h"
#include "probe/spec.h"

/*
 * Adds probes to `trigger` for `spec` in `file`, ignoring its FILE part. *ret_found is false if nothing
 * matches. That is an error only for ADDRESS and LINE: -ENOENT with a sentence. -EINVAL with a sentence: no
 * instruction begins at the address; several functions have the name (the sentence lists them); fewer than #N
 * have it. Other errors as probe_init() and matches_replace_ifuncs().
 */
int places_add(struct trigger *trigger, struct elf_file *file, const struct trigger_spec *spec,
	       bool *ret_found);

/* The functions that the spec names or matches. 0 or -ENOMEM; `matches` as in matches_find(). */
struct matches;
int places_find_functions(struct matches *matches, struct elf_file *file, const struct trigger_spec *spec);
