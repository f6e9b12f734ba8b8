/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C++ and Rust names have colons only in pairs, so a single colon separates. Digits after the last one mean a
 * source line, else it is a symbol.
 */
#include "probe/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"

/* The next separator at or after `text`, or NULL. */
static const char *find_separator(const char *text)
{
	const char *at = text;

	while ((at = strchr(at, ':'))) {
		if (at[1] != ':')
			return at;
		at += 2;
	}
	return NULL;
}

static int fail_spelling(const char *text)
{
	return fail(-EINVAL,
		    "'%s' is not a trigger: give SYMBOL, FILE:SYMBOL, SYMBOL+OFFSET, FILE:0xADDRESS, "
		    "SOURCE.c:LINE, usdt:PROVIDER:NAME, a pattern in quotes, . or ?",
		    text);
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static bool parse_u64(const char *text, uint64_t *ret_value)
{
	char *end;

	errno = 0;
	*ret_value = strtoull(text, &end, 0);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

/* A * belongs to a pattern unless it can be a C++ pointer or operator. */
static bool is_glob(const char *text)
{
	return strpbrk(text, "*?[") && !strchr(text, '(') && !strstr(text, "operator");
}

/* SYM+OFF and SYM#N: the number is cut off. */
static int cut_suffix(struct trigger_spec *spec)
{
	char *plus = strrchr(spec->symbol, '+'), *hash;
	uint64_t number;

	if (plus && plus > spec->symbol && parse_u64(plus + 1, &number)) {
		spec->offset = number;
		*plus = '\0';
	}
	hash = strrchr(spec->symbol, '#');
	if (hash && hash > spec->symbol && is_number(hash + 1)) {
		spec->selector = (uint32_t)strtoul(hash + 1, NULL, 10);
		if (!spec->selector)
			return fail(-EINVAL, "'%s': functions of one name are numbered from 1", spec->symbol);
		*hash = '\0';
	}
	return 0;
}

static int parse_usdt(struct trigger_spec *spec, const char *place, const char *text)
{
	const char *separator = strchr(place, ':');

	if (!separator || separator == place || !separator[1])
		return fail_spelling(text);
	spec->kind = SPEC_USDT;
	spec->source = strndup(place, (size_t)(separator - place));
	spec->symbol = strdup(separator + 1);
	return spec->source && spec->symbol ? 0 : -ENOMEM;
}

static int parse_line(struct trigger_spec *spec, const char *place, const char *separator)
{
	spec->kind = SPEC_LINE;
	spec->source = strndup(place, (size_t)(separator - place));
	spec->line = (uint32_t)strtoul(separator + 1, NULL, 10);
	return spec->source ? 0 : -ENOMEM;
}

static int parse_place(struct trigger_spec *spec, const char *place, const char *text)
{
	const char *separator = find_separator(place);

	if (!*place)
		return fail_spelling(text);
	if (!strncmp(place, "usdt:", 5))
		return parse_usdt(spec, place + 5, text);
	if (separator && separator > place && is_number(separator + 1))
		return parse_line(spec, place, separator);
	if (!strcmp(place, ".") || !strcmp(place, "?")) {
		spec->kind = *place == '.' ? SPEC_MARK : SPEC_PICK;
		return 0;
	}
	if (!strncmp(place, "0x", 2)) {
		spec->kind = SPEC_ADDRESS;
		return parse_u64(place, &spec->offset) ? 0 : fail(-EINVAL, "'%s' is not an address", place);
	}
	spec->symbol = strdup(place);
	if (!spec->symbol)
		return -ENOMEM;
	if (is_glob(place)) {
		spec->kind = SPEC_GLOB;
		return 0;
	}
	return cut_suffix(spec);
}

int trigger_spec_parse(struct trigger_spec *ret_spec, const char *text)
{
	CLEANUP(trigger_spec_release) struct trigger_spec spec = {0};
	const char *separator = find_separator(text), *place = text;
	int err;

	if (separator == text)
		return fail_spelling(text);
	/* "SOURCE.c:LINE" and "usdt:..." have separators of their own. */
	if (separator && strncmp(text, "usdt:", 5) && !(is_number(separator + 1))) {
		place = separator + 1;
		spec.file = strndup(text, (size_t)(separator - text));
		if (!spec.file)
			return -ENOMEM;
	}
	spec.place = strdup(place);
	err = spec.place ? parse_place(&spec, place, text) : -ENOMEM;
	if (err)
		return err;
	*ret_spec = spec;
	spec = (struct trigger_spec){0};
	return 0;
}

void trigger_spec_release(struct trigger_spec *spec)
{
	free(spec->place);
	free(spec->file);
	free(spec->symbol);
	free(spec->source);
	*spec = (struct trigger_spec){0};
}
