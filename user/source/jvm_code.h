/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code that a HotSpot JVM has made, by what it tells debuggers about itself: libjvm.so
 * exports tables of its own structures (src/hotspot/share/runtime/vmStructs.cpp), by which its
 * code cache can be read from outside.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "process/maps.h"

/* The JVM among what is mapped; NULL: there is none. */
const struct sideband_mapping *jvm_code_library(const struct maps *maps);

/*
 * `maps` is of the process. *ret_text: a line for each piece of code, "START SIZE FRAME COMPLETE NAME", all
 * but the name in hexadecimal, which the caller frees. FRAME: bytes from the stack pointer to where the
 * caller's was; 0: another kind of frame. COMPLETE: from this offset on it is so. Methods have a line more,
 * at the address of what describes them, to which a frame of the interpreter points. NULL: the process is no
 * JVM, its tables are not those of JDK 11 to 22 (17 was tried), or it is gone. The process may run meanwhile;
 * what changes is left out. 0 or -ENOMEM.
 */
int jvm_code_read(pid_t pid, const struct maps *maps, char **ret_text, size_t *ret_size);
