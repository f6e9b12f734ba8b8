/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of C++ and Rust tell least in their template arguments, and most at their end. */
#include "cli/show/fit_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

static const char ellipsis[] = "...";

static size_t columns_of(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += !utf8_is_continued(*text);
	return columns;
}

/* "operator<<", "operator->", "operator()": no brackets. */
static size_t operator_len(const char *at)
{
	static const char word[] = "operator";
	size_t len = strlen(word);

	if (strncmp(at, word, len) != 0)
		return 0;
	len += strspn(at + len, "<>=-");
	return len + (strncmp(at + len, "()", 2) ? 0 : 2);
}

/* What is between the bracket at `at` and its partner; NULL: it has none. */
static const char *partner(const char *at, char open, char close)
{
	int depth = 0;

	for (; *at; at++) {
		size_t skipped = operator_len(at);

		if (skipped) {
			at += skipped - 1;
			continue;
		}
		depth += *at == open;
		/* The arrow of a result type. */
		depth -= *at == close && at[-1] != '-';
		if (!depth)
			return at;
	}
	return NULL;
}

/* "(anonymous namespace)" is a part of the name. */
static bool is_kept(const char *at)
{
	return !strncmp(at, "(anonymous", 10) || at[1] == ')' || at[1] == '>';
}

/* In place: what is shorter stays. */
static void fold(char *name, char open, char close)
{
	char *to = name;

	for (const char *at = name; *at;) {
		size_t skipped = operator_len(at);
		const char *end = !skipped && *at == open && !is_kept(at) ? partner(at, open, close) : NULL;

		if (end && end - at > (long)strlen(ellipsis)) {
			*to++ = open;
			memcpy(to, ellipsis, strlen(ellipsis));
			to += strlen(ellipsis);
			at = end;
		}
		for (*to++ = *at++; skipped > 1; skipped--)
			*to++ = *at++;
	}
	*to = '\0';
}

static void keep_end(char *name, size_t columns)
{
	size_t drop = columns_of(name) + strlen(ellipsis) - columns;
	char *at = name;

	while (*at && drop) {
		at++;
		while (utf8_is_continued(*at))
			at++;
		drop--;
	}
	memmove(name + strlen(ellipsis), at, strlen(at) + 1);
	memcpy(name, ellipsis, strlen(ellipsis));
}

char *fit_name(const char *name, size_t columns)
{
	char *text = strdup(name);

	if (!text || columns_of(text) <= columns)
		return text;
	fold(text, '<', '>');
	if (columns_of(text) > columns)
		fold(text, '(', ')');
	if (columns_of(text) > columns)
		keep_end(text, columns);
	return text;
}
