/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a trigger is spelled: a place, after FILE: where it is not in the executable or one of its libraries.
 * FILE is a path or a library's name.
 *
 *	SYM  SYM@VERSION  SYM+OFF  SYM#N	a function, by its name in the symbol table or demangled,
 *						with or without parameters
 *	'parse_*'				all functions that a pattern matches (* ? [])
 *	0xADDR					an instruction, by its virtual address in the file
 *	SOURCE.c:LINE				by debug information
 *	usdt:PROVIDER:NAME			a statically defined probe
 *	.					where the program marks its own moments
 *						(user/trailcam.h, magic-trace's library)
 *	?					to be picked
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum spec_kind { SPEC_SYMBOL, SPEC_GLOB, SPEC_ADDRESS, SPEC_LINE, SPEC_USDT, SPEC_MARK, SPEC_PICK };

struct trigger_spec {
	enum spec_kind kind;
	char *place; /* all but FILE */
	char *file;  /* NULL: the executable, or else the libraries it needs */
	/* SYMBOL: may have a version ("memcpy@GLIBC_2.14"); GLOB: the pattern; USDT: the name */
	char *symbol;
	char *source;	 /* LINE: the source file; USDT: the provider */
	uint64_t offset; /* SYMBOL: from its beginning; ADDRESS: the address */
	uint32_t line;	 /* LINE */
	/* SYMBOL: the number of one of several functions of that name, from 1; 0: there must be one only */
	uint32_t selector;
};

/*
 * Fills *ret_spec (release with trigger_spec_release()). -EINVAL with a sentence: a part is empty or not a
 * number; -ENOMEM.
 */
int trigger_spec_parse(struct trigger_spec *ret_spec, const char *text);
void trigger_spec_release(struct trigger_spec *spec);
