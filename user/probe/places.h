/* SPDX-License-Identifier: BSD-2-Clause */
/* From a place's spelling to probes in one file. */
#pragma once

#include <stdbool.h>

#include "elf/elf_file.h"
#include "model/trigger.h"
#include "probe/spec.h"

/*
 * Adds probes to `trigger` for what `spec` means in `file`; its own FILE part is not looked at. *ret_found is
 * false where it means nothing there, which is no error, but for ADDRESS and LINE: -ENOENT with a sentence.
 * -EINVAL with a sentence: no instruction begins there; several functions have that name, and which they are;
 * fewer than #N have it. Else as probe_init() and matches_replace_ifuncs().
 */
int places_add(struct trigger *trigger, struct elf_file *file, const struct trigger_spec *spec,
	       bool *ret_found);

/*
 * The functions that the spec names or matches, before anything is done with them. 0 or -ENOMEM; `matches` as
 * in matches_find().
 */
struct matches;
int places_find_functions(struct matches *matches, struct elf_file *file, const struct trigger_spec *spec);
