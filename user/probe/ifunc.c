/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An STT_GNU_IFUNC symbol stands for a resolver: it runs once, when the program starts, and returns the
 * function that every call then goes to. A probe on the symbol itself would see that one call and none of the
 * interesting ones. Which function it returned is known only to the running program, but the candidates
 * follow conventions, and probing all of them is right whichever it is:
 *
 *	glibc		memcpy	-> __memcpy_avx_unaligned_erms, __memcpy_sse2_unaligned, ...
 *				(local: .symtab or debug file)
 *	target_clones	scale	-> scale.avx2, scale.default.1, ...	(but scale.resolver)
 */
#include "probe/ifunc.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"

static bool starts_with_any(const char *text, const char *const *prefixes, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (!strncmp(text, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* "__NAME_avx2"; but "__memcpy_chk_avx2" and "__strcasecmp_l_avx2" implement memcpy_chk and strcasecmp_l. */
static bool is_glibc_variant(const char *rest)
{
	static const char *const others[] = {"chk", "l_"};

	return rest[0] == '_' && rest[1] && !starts_with_any(rest + 1, others, ARRAY_SIZE(others));
}

static bool is_target_clone(const char *rest)
{
	return rest[0] == '.' && strcmp(rest, ".resolver") && !strstr(rest, ".cold") &&
	       !strstr(rest, ".part");
}

static bool implements(const char *name, const char *ifunc)
{
	const char *base = ifunc + strspn(ifunc, "_");
	size_t base_len = strlen(base), ifunc_len = strlen(ifunc);

	if (!strncmp(name, ifunc, ifunc_len) && is_target_clone(name + ifunc_len))
		return true;
	return !strncmp(name, "__", 2) && !strncmp(name + 2, base, base_len) &&
	       is_glibc_variant(name + 2 + base_len);
}

size_t ifunc_implementations(struct elf_file *file, const struct elf_symbol *ifunc,
			     const struct elf_symbol **ret_symbols, size_t cap)
{
	uint64_t last_addr = UINT64_MAX;
	size_t cnt, found = 0;
	const struct elf_symbol *symbols = elf_file_symbols(file, &cnt);

	/* They are sorted by address: names for the same one are neighbours. */
	for (size_t i = 0; i < cnt; i++) {
		/* The resolver itself may have a name, too: __cos_ifunc. */
		if (symbols[i].type != STT_FUNC || symbols[i].is_plt || symbols[i].addr == last_addr ||
		    symbols[i].addr == ifunc->addr || !implements(symbols[i].name, ifunc->name))
			continue;
		if (found < cap)
			ret_symbols[found] = &symbols[i];
		found++;
		last_addr = symbols[i].addr;
	}
	return found;
}
