/* SPDX-License-Identifier: BSD-2-Clause */
/* What conditions and values to be printed are parsed with. */
#pragma once

#include <stdbool.h>

#include "condition/condition_lexer.h"

struct field_lookup;
struct condition_node;

enum { CONDITION_TEXT_MAX = 4096 };

struct parser {
	struct lexer lexer;
	const struct field_lookup *fields; /* NULL: no debug information */
	unsigned int nesting;
};

/* Whether this punctuation comes next, or "->" or "." before a field. */
bool parser_is_at(const struct parser *parser, const char *text);
bool parser_is_at_step(const struct parser *parser);

/* Takes this punctuation. 0, or -EINVAL with a sentence. */
int parser_expect(struct parser *parser, const char *text);

/* Takes an expression; the node is the caller's, to be freed. 0, or -errno with a sentence. */
int parser_expression(struct parser *parser, struct condition_node **ret_node);
