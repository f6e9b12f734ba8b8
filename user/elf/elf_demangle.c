/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Demangles with libiberty, which recognises C++ and Rust but not OCaml. Only names that look mangled are
 * passed to it, since most do not.
 */
#include <string.h>

#include <libiberty/demangle.h>

#include "elf/elf_internal.h"

static char *demangle(const char *name, int options)
{
	if (name[0] == 'c')
		return elf_ocaml_demangle(name);
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	return cplus_demangle(name, DMGL_AUTO | DMGL_ANSI | options);
}

char *elf_demangle(const char *name)
{
	return demangle(name, DMGL_PARAMS);
}

char *elf_shown_name(const char *name)
{
	char *demangled = elf_demangle(name);

	return demangled ? demangled : strdup(name);
}

char *elf_demangle_bare(const char *name)
{
	return demangle(name, 0);
}
