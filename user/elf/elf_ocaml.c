/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OCaml's native names (ocaml, asmcomp): "caml" and the module, "__" for each dot, "$" and two hexadecimal
 * digits for what a linker does not like, and a number that tells functions of one name apart:
 * camlStdlib__List__map_456 is Stdlib.List.map.
 */
#include <ctype.h>
#include <string.h>

#include "elf/elf_internal.h"

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

static size_t without_number(const char *name)
{
	size_t len = strlen(name), digits = len;

	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	return digits > 1 && digits < len && name[digits - 1] == '_' && name[digits - 2] != '_' ? digits - 1
												: len;
}

char *elf_ocaml_demangle(const char *name)
{
	size_t end, cnt = 0;
	char *plain;

	/* The runtime's own functions are called caml_... */
	if (strncmp(name, "caml", 4) || !isupper((unsigned char)name[4]) || !strstr(name, "__"))
		return NULL;
	name += 4;
	end = without_number(name);
	plain = calloc(1, end + 1);
	for (size_t i = 0; plain && i < end; i++) {
		if (name[i] == '_' && name[i + 1] == '_' && i + 2 < end) {
			plain[cnt++] = '.';
			i++;
		} else if (name[i] == '$' && hex_digit(name[i + 1]) >= 0 && hex_digit(name[i + 2]) >= 0) {
			plain[cnt++] = (char)(hex_digit(name[i + 1]) * 16 + hex_digit(name[i + 2]));
			i += 2;
		} else {
			plain[cnt++] = name[i];
		}
	}
	return plain;
}
