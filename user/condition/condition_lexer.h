/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits a condition into tokens. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_STRING, TOKEN_PUNCTUATION };

struct token {
	enum token_kind kind;
	const char *begin; /* in the text; of a string: after the opening quote */
	size_t len;	   /* of a string: without the quotes */
	uint64_t number;
};

struct lexer {
	const char *text;
	const char *at;
	struct token token; /* the current token */
};

/* Reads the first token. -EINVAL as condition_parse(). */
int lexer_begin(struct lexer *lexer, const char *text);

/* Reads the next token. -EINVAL as condition_parse(). */
int lexer_next(struct lexer *lexer);

/* Returns -EINVAL with the sentence, and two lines that show the text with a mark under `place`. */
int lexer_fail(const struct lexer *lexer, const char *place, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
