/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of --print: expressions with commas between them, and texts: str(P), str(P, MAX). */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "condition/condition_fields.h"
#include "condition/condition_tree.h"
#include "condition/parser.h"

static int parse_text_max(struct parser *parser, uint32_t *ret_max)
{
	const struct token *token = &parser->lexer.token;
	int err;

	*ret_max = PRINT_TEXT;
	if (!parser_is_at(parser, ","))
		return 0;
	err = lexer_next(&parser->lexer);
	if (err)
		return err;
	if (token->kind != TOKEN_NUMBER || !token->number || token->number > PRINT_TEXT_MAX)
		return lexer_fail(&parser->lexer, token->begin,
				  "str(P, MAX) prints up to MAX bytes: a number from 1 to %d belongs here",
				  PRINT_TEXT_MAX);
	*ret_max = (uint32_t)token->number;
	return lexer_next(&parser->lexer);
}

static bool ends_item(const struct parser *parser)
{
	return parser->lexer.token.kind == TOKEN_END || parser_is_at(parser, ",");
}

/* "str(P)" that is not compared; anything else leaves item->root NULL. */
static int parse_text_item(struct parser *parser, struct print_item *item)
{
	const struct token *token = &parser->lexer.token;
	const struct lexer before = parser->lexer;
	int err;

	if (token->kind != TOKEN_NAME || token->len != 3 || strncmp(token->begin, "str", 3) != 0)
		return 0;
	err = lexer_next(&parser->lexer);
	if (!err)
		err = parser_expect(parser, "(");
	if (!err)
		err = parser_expression(parser, &item->root);
	if (!err)
		err = parse_text_max(parser, &item->max);
	if (!err)
		err = parser_expect(parser, ")");
	if (err)
		return err;
	item->is_text = ends_item(parser);
	if (!item->is_text) {
		node_free(item->root);
		item->root = NULL;
		parser->lexer = before;
	}
	return 0;
}

static int name_item(struct print_item *item, const char *begin, const char *end)
{
	while (end > begin && isspace((unsigned char)end[-1]))
		end--;
	item->name = strndup(begin, (size_t)(end - begin));
	return item->name ? 0 : -ENOMEM;
}

static int parse_item(struct parser *parser, struct prints *prints)
{
	struct print_item *item = &prints->items[prints->cnt];
	const char *begin = parser->lexer.token.begin;
	int err;

	if (prints->cnt == PRINTS_MAX)
		return lexer_fail(&parser->lexer, begin, "at most %d values can be printed", PRINTS_MAX);
	prints->cnt++;
	err = parse_text_item(parser, item);
	if (!err && !item->root)
		err = parser_expression(parser, &item->root);
	if (!err && !ends_item(parser))
		err = lexer_fail(&parser->lexer, parser->lexer.token.begin,
				 "a comma between values, or an operator, is missing before this");
	if (err)
		return err;
	condition_note(&prints->asked, item->root);
	prints->asked.reads_memory |= item->is_text;
	prints_place(prints, item);
	return name_item(item, begin, parser->lexer.token.begin);
}

int prints_parse(struct prints **ret_prints, const char *text)
{
	return prints_parse_with(ret_prints, text, NULL);
}

int prints_parse_with(struct prints **ret_prints, const char *text, const struct field_lookup *fields)
{
	CLEANUP(prints_freep) struct prints *prints = calloc(1, sizeof(*prints));
	struct parser parser = {.fields = fields};
	int err;

	if (!prints)
		return -ENOMEM;
	if (strlen(text) > CONDITION_TEXT_MAX)
		return fail(-EINVAL, "a list of values of %zu bytes is too long: at most %d", strlen(text),
			    CONDITION_TEXT_MAX);
	err = lexer_begin(&parser.lexer, text);
	if (!err)
		err = parse_item(&parser, prints);
	while (!err && parser_is_at(&parser, ",")) {
		err = lexer_next(&parser.lexer);
		if (!err)
			err = parse_item(&parser, prints);
	}
	if (!err)
		*ret_prints = TAKE_PTR(prints);
	return err;
}
