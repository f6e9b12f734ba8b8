/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of a condition. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_STRING, TOKEN_PUNCTUATION };

struct token {
	enum token_kind kind;
	const char *begin; /* in the text; of a string: behind the opening quote */
	size_t len;	   /* of a string: without the quotes */
	uint64_t number;
};

struct lexer {
	const char *text;
	const char *at;
	struct token token; /* the one at hand */
};

/* Makes the first token the one at hand. -EINVAL as condition_parse(). */
int lexer_begin(struct lexer *lexer, const char *text);

/* Goes on to the next. */
int lexer_next(struct lexer *lexer);

/* -EINVAL with `sentence`, and the text with a mark under `place`. */
int lexer_fail(const struct lexer *lexer, const char *place, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
