/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/symbol.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"

static const struct {
	const char *name;
	enum symbol_role role;
} roles[] = {
	{"setjmp", SYMBOL_SETJMP},
	{"_setjmp", SYMBOL_SETJMP},
	{"sigsetjmp", SYMBOL_SETJMP},
	{"__sigsetjmp", SYMBOL_SETJMP},
	{"swapcontext", SYMBOL_SWITCH},
	{"setcontext", SYMBOL_SWITCH},
	{"jump_fcontext", SYMBOL_SWITCH}, /* Boost.Context */
	{"ontop_fcontext", SYMBOL_SWITCH},
	{"caml_perform", SYMBOL_SWITCH}, /* OCaml 5's effects */
	{"caml_reperform", SYMBOL_SWITCH},
	{"caml_resume", SYMBOL_SWITCH},
	{"gogo", SYMBOL_SWITCH},
	{"runtime.gogo", SYMBOL_SWITCH},
	{"runtime.gogo.abi0", SYMBOL_SWITCH},
	{"runtime.morestack", SYMBOL_GO_MORESTACK},
	{"runtime.morestack.abi0", SYMBOL_GO_MORESTACK},
	/* HotSpot's blobs of code (share/code/codeBlob.cpp, share/runtime/sharedRuntime.cpp) */
	{"I2C/C2I adapters", SYMBOL_ADAPTER},
	{"vtable chunks", SYMBOL_ADAPTER},
	{"InlineCacheBuffer", SYMBOL_ADAPTER},
	{"resolve_static_call", SYMBOL_ADAPTER},
	{"resolve_opt_virtual_call", SYMBOL_ADAPTER},
	{"resolve_virtual_call", SYMBOL_ADAPTER},
	{"ic_miss_stub", SYMBOL_ADAPTER},
	{"wrong_method_stub", SYMBOL_ADAPTER},
};

bool symbol_is_part(const char *name)
{
	return strstr(name, ".cold") != NULL;
}

/*
 * Length of the name without what compilers add to a part that they move out: "f.cold", "f() [clone .cold]".
 */
static size_t stem(const char *name)
{
	const char *cold = strstr(name, ".cold");

	if (!cold)
		return strlen(name);
	if (cold - name >= 8 && !memcmp(cold - 8, " [clone ", 8))
		cold -= 8;
	return (size_t)(cold - name);
}

bool symbol_shares_name(const struct symbol *a, const struct symbol *b)
{
	size_t len = stem(a->name);

	return len == stem(b->name) && !memcmp(a->name, b->name, len);
}

enum symbol_role symbol_role(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (!strcmp(name, roles[i].name))
			return roles[i].role;
	if (!strncmp(name, "caml", 4) && isupper((unsigned char)name[4]))
		return SYMBOL_OCAML;
	return SYMBOL_PLAIN;
}
