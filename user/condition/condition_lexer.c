/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers carry their unit, so that "5ms" and "4k" are one word. */
#include "condition/condition_lexer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

int lexer_fail(const struct lexer *lexer, const char *place, const char *fmt, ...)
{
	char sentence[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	fail(-EINVAL, "%s", sentence);
	fail_line(-EINVAL, "  %s", lexer->text);
	return fail_line(-EINVAL, "  %*s^", (int)(place - lexer->text), "");
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static int unit_factor(const char *unit, size_t len, uint64_t *ret_factor)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = {
		{"", 1},	   {"ns", 1},	      {"us", 1000},	 {"ms", 1000000},   {"s", 1000000000},
		{"k", 1ull << 10}, {"K", 1ull << 10}, {"M", 1ull << 20}, {"G", 1ull << 30},
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strlen(units[i].name) != len || strncmp(units[i].name, unit, len))
			continue;
		*ret_factor = units[i].factor;
		return 0;
	}
	return -EINVAL;
}

static int read_number(struct lexer *lexer)
{
	char *end;
	uint64_t factor, number;
	const char *unit;

	errno = 0;
	number = strtoull(lexer->at, &end, 0);
	if (errno)
		return lexer_fail(lexer, lexer->at, "this number does not fit in 64 bits");
	unit = end;
	while (is_name_char(*end) || *end == '.')
		end++;
	if (unit_factor(unit, (size_t)(end - unit), &factor))
		return lexer_fail(
			lexer, unit,
			"'%.*s' is no unit: after a whole number there may be k, M, G, ns, us, ms or s",
			(int)(end - unit), unit);
	if (__builtin_mul_overflow(number, factor, &number))
		return lexer_fail(lexer, lexer->at, "this number does not fit in 64 bits");
	lexer->token.kind = TOKEN_NUMBER;
	lexer->token.number = number;
	lexer->at = end;
	return 0;
}

static int read_char(struct lexer *lexer)
{
	if (!lexer->at[1] || lexer->at[2] != '\'')
		return lexer_fail(lexer, lexer->at, "a character is written like 'x'");
	lexer->token.kind = TOKEN_NUMBER;
	lexer->token.number = (unsigned char)lexer->at[1];
	lexer->at += 3;
	return 0;
}

static int read_string(struct lexer *lexer)
{
	const char *end = strchr(lexer->at + 1, '"');

	if (!end)
		return lexer_fail(lexer, lexer->at, "this string has no closing quote");
	lexer->token.kind = TOKEN_STRING;
	lexer->token.begin = lexer->at + 1;
	lexer->token.len = (size_t)(end - lexer->at - 1);
	lexer->at = end + 1;
	return 0;
}

static int read_name(struct lexer *lexer)
{
	const char *end = lexer->at + 1;

	while (is_name_char(*end))
		end++;
	lexer->token.kind = TOKEN_NAME;
	lexer->token.len = (size_t)(end - lexer->token.begin);
	lexer->at = end;
	return 0;
}

static int read_punctuation(struct lexer *lexer)
{
	static const char *const pairs[] = {"||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "->"};
	size_t len = 1;

	if (!strchr("|&^=!<>+-*/%$~()[],.", *lexer->at))
		return lexer_fail(lexer, lexer->at, "'%c' does not belong in a condition", *lexer->at);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (!strncmp(lexer->at, pairs[i], 2))
			len = 2;
	if (len == 1 && *lexer->at == '=')
		return lexer_fail(lexer, lexer->at, "'=' does not compare: write '=='");
	lexer->token.kind = TOKEN_PUNCTUATION;
	lexer->token.len = len;
	lexer->at += len;
	return 0;
}

int lexer_next(struct lexer *lexer)
{
	char c;

	while (isspace((unsigned char)*lexer->at))
		lexer->at++;
	c = *lexer->at;
	lexer->token = (struct token){.kind = TOKEN_END, .begin = lexer->at};
	if (!c)
		return 0;
	if (isdigit((unsigned char)c))
		return read_number(lexer);
	if (c == '\'')
		return read_char(lexer);
	if (c == '"')
		return read_string(lexer);
	if (isalpha((unsigned char)c) || c == '_')
		return read_name(lexer);
	return read_punctuation(lexer);
}

int lexer_begin(struct lexer *lexer, const char *text)
{
	*lexer = (struct lexer){.text = text, .at = text};
	return lexer_next(lexer);
}
