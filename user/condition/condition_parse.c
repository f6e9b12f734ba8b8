/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Precedence climbing over C's levels; a name or a parenthesis decides between value, cast and string
 * comparison.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "condition/condition_fields.h"
#include "condition/condition_lexer.h"
#include "condition/condition_tree.h"
#include "condition/condition_words.h"
#include "condition/parser.h"
#include "process/cgroup.h"

enum { NESTING_MAX = 64 };

static const struct value_type type_long = {.size = 8, .is_signed = true};

/* ---- small things ---- */

bool parser_is_at(const struct parser *parser, const char *text)
{
	const struct token *token = &parser->lexer.token;

	return token->kind == TOKEN_PUNCTUATION && token->len == strlen(text) &&
	       !strncmp(token->begin, text, token->len);
}

int parser_expect(struct parser *parser, const char *text)
{
	const struct token *token = &parser->lexer.token;

	if (parser_is_at(parser, text))
		return lexer_next(&parser->lexer);
	return lexer_fail(&parser->lexer, token->begin, "'%s' is missing here", text);
}

static int parse_expression(struct parser *parser, int level, struct condition_node **ret_node);

/* ---- strings ---- */

static int take_string(struct parser *parser, struct condition_node *node)
{
	const struct token *token = &parser->lexer.token;
	size_t max = node->kind == NODE_COMM_IS ? HIT_COMM_BYTES - 1 : CONDITION_STRING_MAX;
	size_t len = token->len;

	if (len && token->begin[len - 1] == '*') {
		node->is_prefix = true;
		len--;
	}
	if (len > max)
		return lexer_fail(
			&parser->lexer, token->begin, "this text is too long: at most %zu bytes%s", max,
			node->kind == NODE_COMM_IS ? " of a thread's name are kept" : " can be compared");
	memcpy(node->text, token->begin, len);
	return lexer_next(&parser->lexer);
}

/* What a string is compared with stands in *node: it becomes the comparison. */
static int parse_string_comparison(struct parser *parser, struct condition_node **node)
{
	bool differs = parser_is_at(parser, "!=");
	int err;

	if (!differs && !parser_is_at(parser, "=="))
		return lexer_fail(&parser->lexer, parser->lexer.token.begin,
				  "a text can only be compared: '== \"...\"' or '!= \"...\"' belongs here");
	err = lexer_next(&parser->lexer);
	if (err)
		return err;
	if (parser->lexer.token.kind != TOKEN_STRING)
		return lexer_fail(&parser->lexer, parser->lexer.token.begin,
				  "a string in double quotes belongs here");
	err = take_string(parser, *node);
	return err || !differs ? err : node_wrap(node, NODE_NOT, type_long);
}

static int parse_comm(struct parser *parser, struct condition_node **node)
{
	int err = node_add(node, NODE_COMM_IS, type_long);

	return err ? err : parse_string_comparison(parser, node);
}

static int parse_str(struct parser *parser, struct condition_node **node)
{
	int err = node_add(node, NODE_TEXT_IS, type_long);

	if (!err)
		err = parser_expect(parser, "(");
	if (!err)
		err = parse_expression(parser, 0, &(*node)->left);
	if (!err)
		err = parser_expect(parser, ")");
	return err ? err : parse_string_comparison(parser, node);
}

/* `cgroup` is a number, its id; compared with a string it means "in it or below". */
static int parse_cgroup(struct parser *parser, struct condition_node **node)
{
	const struct lexer before = parser->lexer;
	bool differs = parser_is_at(parser, "!=");
	int err = node_add(node, NODE_CGROUP, type_long);

	if (err || (!differs && !parser_is_at(parser, "==")))
		return err;
	err = lexer_next(&parser->lexer);
	if (err || parser->lexer.token.kind != TOKEN_STRING) {
		parser->lexer = before;
		return err;
	}
	(*node)->kind = NODE_IN_CGROUP;
	err = cgroup_find(parser->lexer.token.begin, parser->lexer.token.len, &(*node)->number,
			  &(*node)->level);
	if (err)
		return lexer_fail(&parser->lexer, parser->lexer.token.begin, "%s", fail_message(err));
	err = lexer_next(&parser->lexer);
	return err || !differs ? err : node_wrap(node, NODE_NOT, type_long);
}

/* ---- values ---- */

bool parser_is_at_step(const struct parser *parser)
{
	return parser_is_at(parser, "->") || parser_is_at(parser, ".");
}

/* "arg0", and what is behind it in "arg0->conn->fd" */
static int parse_argument(struct parser *parser, const char *place, struct condition_node **node)
{
	return parser_is_at_step(parser) ? condition_field(&parser->lexer, place, parser->fields, node) : 0;
}

/* "ret", with its type where that is known, and what is behind it in "ret->fd" */
static int parse_result(struct parser *parser, const char *place, struct condition_node **node)
{
	struct elf_field field = {0};
	int err;

	(*node)->number = ELF_RESULT;
	if (parser_is_at_step(parser) || !parser->fields)
		return parse_argument(parser, place, node);
	err = condition_value(parser->fields, ELF_RESULT, "", node, &field);
	return err == -ENOMEM ? err : 0;
}

/* A parameter or a constant by its name in the source. */
static int parse_name(struct parser *parser, struct condition_node **ret_node)
{
	const struct token name = parser->lexer.token;
	int err = condition_name(&parser->lexer, &name, parser->fields, ret_node);

	if (!err)
		err = lexer_next(&parser->lexer);
	if (err || ((*ret_node)->kind != NODE_ARG && parser->fields))
		return err;
	if (parser->fields && !parser_is_at_step(parser))
		return condition_type(&parser->lexer, name.begin, parser->fields, ret_node);
	return parse_argument(parser, name.begin, ret_node);
}

static int parse_word(struct parser *parser, struct condition_node **ret_node)
{
	const struct token token = parser->lexer.token;
	struct word word;
	int err;

	if (!word_find(token.begin, token.len, &word))
		return parse_name(parser, ret_node);
	err = lexer_next(&parser->lexer);
	if (err)
		return err;
	if (word.kind == NODE_COMM_IS)
		return parse_comm(parser, ret_node);
	if (word.kind == NODE_TEXT_IS)
		return parse_str(parser, ret_node);
	if (word.kind == NODE_CGROUP)
		return parse_cgroup(parser, ret_node);
	err = node_add(ret_node, word.kind, word.type);
	if (err)
		return err;
	(*ret_node)->number = word.number;
	if (word.kind == NODE_ARG)
		return parse_argument(parser, token.begin, ret_node);
	return word.kind == NODE_RET ? parse_result(parser, token.begin, ret_node) : 0;
}

static int parse_number(struct parser *parser, struct condition_node **ret_node)
{
	int err = node_add(ret_node, NODE_NUMBER, type_long);

	if (err)
		return err;
	(*ret_node)->number = parser->lexer.token.number;
	(*ret_node)->type.is_signed = (int64_t)(*ret_node)->number >= 0;
	return lexer_next(&parser->lexer);
}

static int parse_primary(struct parser *parser, struct condition_node **ret_node)
{
	const struct token *token = &parser->lexer.token;
	int err;

	if (parser_is_at(parser, "(")) {
		err = lexer_next(&parser->lexer);
		if (!err)
			err = parse_expression(parser, 0, ret_node);
		return err ? err : parser_expect(parser, ")");
	}
	if (parser_is_at(parser, "%") || parser_is_at(parser, "$")) {
		err = lexer_next(&parser->lexer);
		if (err)
			return err;
	}
	switch (token->kind) {
	case TOKEN_NUMBER:
		return parse_number(parser, ret_node);
	case TOKEN_NAME:
		return parse_word(parser, ret_node);
	case TOKEN_STRING:
		return lexer_fail(&parser->lexer, token->begin,
				  "a string belongs only after == or != of comm, str(...) or cgroup");
	case TOKEN_END:
		return lexer_fail(&parser->lexer, token->begin, "a value is missing at the end");
	default:
		return lexer_fail(&parser->lexer, token->begin, "a value belongs here, not '%.*s'",
				  (int)token->len, token->begin);
	}
}

/* ---- loads and casts ---- */

/* What a pointer points to; a plain number points to 8 bytes. */
static struct value_type pointee(struct value_type type)
{
	if (!type.depth)
		return type_long;
	type.depth--;
	return type;
}

/* What lies behind a pointer to something else than a number is not known. */
static int check_pointee(const struct parser *parser, struct value_type type)
{
	if (type.depth != 1 || type.size)
		return 0;
	return lexer_fail(&parser->lexer, parser->lexer.token.begin,
			  "the pointer before this does not point to a number: name a field with ->, or "
			  "cast it: (int *)arg0->field");
}

static int add_load(struct parser *parser, struct condition_node **node)
{
	int err = check_pointee(parser, (*node)->type);

	return err ? err : node_wrap(node, NODE_LOAD, pointee((*node)->type));
}

static uint64_t step_of(struct value_type type)
{
	return !type.depth ? 1 : type.depth > 1 ? 8 : type.size;
}

/* C's pointer arithmetic: an integer added to a pointer counts what it points to. */
static int scale(struct condition_node **node, uint64_t factor)
{
	struct condition_node *number;
	int err;

	if (factor == 1)
		return 0;
	err = node_add(&number, NODE_NUMBER, type_long);
	if (err)
		return err;
	number->number = factor;
	return node_add_binary(node, OP_MUL, number, type_long);
}

static int parse_postfix(struct parser *parser, struct condition_node **ret_node)
{
	int err = parse_primary(parser, ret_node);

	while (!err && parser_is_at(parser, "[")) {
		struct value_type type = (*ret_node)->type;
		CLEANUP(node_freep) struct condition_node *index = NULL;

		err = lexer_next(&parser->lexer);
		if (!err)
			err = parse_expression(parser, 0, &index);
		if (!err)
			err = parser_expect(parser, "]");
		if (!err)
			err = scale(&index, type.depth ? step_of(type) : 8);
		if (!err)
			err = node_add_binary(ret_node, OP_ADD, TAKE_PTR(index), type);
		if (!err)
			err = add_load(parser, ret_node);
	}
	return err;
}

/* "int *)" behind an opening parenthesis. */
static int parse_type(struct parser *parser, struct value_type *ret_type)
{
	struct type_words words = {0};
	int err = 0;

	while (!err && parser->lexer.token.kind == TOKEN_NAME) {
		if (!type_words_add(&words, parser->lexer.token.begin, parser->lexer.token.len))
			return lexer_fail(&parser->lexer, parser->lexer.token.begin,
					  "this is not a type: write one as in (unsigned int *)");
		err = lexer_next(&parser->lexer);
	}
	*ret_type = type_words_end(&words);
	while (!err && parser_is_at(parser, "*")) {
		ret_type->depth++;
		err = lexer_next(&parser->lexer);
	}
	return err ? err : parser_expect(parser, ")");
}

static bool begins_type(const struct parser *parser)
{
	const struct token *token = &parser->lexer.token;
	struct type_words words = {0};

	/* "struct" is no type here, and parse_type() says so. */
	return token->kind == TOKEN_NAME && (type_words_add(&words, token->begin, token->len) ||
					     (token->len == 6 && !strncmp(token->begin, "struct", 6)));
}

static int parse_unary(struct parser *parser, struct condition_node **ret_node);

static int parse_cast_or_postfix(struct parser *parser, struct condition_node **ret_node)
{
	struct lexer before = parser->lexer;
	struct value_type type;
	int err = lexer_next(&parser->lexer);

	if (err)
		return err;
	if (!begins_type(parser)) {
		parser->lexer = before;
		return parse_postfix(parser, ret_node);
	}
	err = parse_type(parser, &type);
	if (!err)
		err = parse_unary(parser, ret_node);
	return err ? err : node_wrap(ret_node, NODE_CAST, type);
}

static int parse_operator(struct parser *parser, enum node_kind kind, struct condition_node **ret_node)
{
	int err = lexer_next(&parser->lexer);

	if (!err)
		err = parse_unary(parser, ret_node);
	if (err)
		return err;
	return kind == NODE_LOAD ? add_load(parser, ret_node) : node_wrap(ret_node, kind, type_long);
}

static int parse_unary(struct parser *parser, struct condition_node **ret_node)
{
	int err;

	if (++parser->nesting > NESTING_MAX)
		return lexer_fail(&parser->lexer, parser->lexer.token.begin, "this is nested too deeply");
	if (parser_is_at(parser, "-"))
		err = parse_operator(parser, NODE_NEGATE, ret_node);
	else if (parser_is_at(parser, "~"))
		err = parse_operator(parser, NODE_COMPLEMENT, ret_node);
	else if (parser_is_at(parser, "!"))
		err = parse_operator(parser, NODE_NOT, ret_node);
	else if (parser_is_at(parser, "*"))
		err = parse_operator(parser, NODE_LOAD, ret_node);
	else if (parser_is_at(parser, "("))
		err = parse_cast_or_postfix(parser, ret_node);
	else
		err = parse_postfix(parser, ret_node);
	parser->nesting--;
	return err;
}

/* ---- binary operators ---- */

static const struct {
	const char *text;
	int level; /* higher binds tighter */
	enum node_kind kind;
	enum binary_op op;
} operators[] = {
	{"||", 1, NODE_OR, 0},
	{"&&", 2, NODE_AND, 0},
	{"|", 3, NODE_BINARY, OP_BITOR},
	{"^", 4, NODE_BINARY, OP_BITXOR},
	{"&", 5, NODE_BINARY, OP_BITAND},
	{"==", 6, NODE_BINARY, OP_EQ},
	{"!=", 6, NODE_BINARY, OP_NE},
	{"<", 7, NODE_BINARY, OP_LT},
	{"<=", 7, NODE_BINARY, OP_LE},
	{">", 7, NODE_BINARY, OP_GT},
	{">=", 7, NODE_BINARY, OP_GE},
	{"<<", 8, NODE_BINARY, OP_SHL},
	{">>", 8, NODE_BINARY, OP_SHR},
	{"+", 9, NODE_BINARY, OP_ADD},
	{"-", 9, NODE_BINARY, OP_SUB},
	{"*", 10, NODE_BINARY, OP_MUL},
	{"/", 10, NODE_BINARY, OP_DIV},
	{"%", 10, NODE_BINARY, OP_MOD},
};

static bool is_unsigned(struct value_type type)
{
	return type.depth || (type.size == 8 && !type.is_signed);
}

static int join(struct condition_node **left, size_t i, struct condition_node *right)
{
	enum binary_op op = operators[i].op;
	bool is_signed =
		!is_unsigned((*left)->type) && (op == OP_SHL || op == OP_SHR || !is_unsigned(right->type));
	struct value_type type = type_long;
	int err = 0;

	if ((op == OP_ADD || op == OP_SUB) && (*left)->type.depth && !right->type.depth) {
		type = (*left)->type;
		err = scale(&right, step_of(type));
	} else if (operators[i].kind == NODE_BINARY && (op < OP_EQ || op > OP_GE)) {
		type.is_signed = is_signed;
	}
	if (err) {
		node_free(right);
		return err;
	}
	err = node_add_binary(left, op, right, type);
	if (!err) {
		(*left)->kind = operators[i].kind;
		(*left)->is_signed = is_signed;
	}
	return err;
}

static size_t operator_at(const struct parser *parser, int level)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].level >= level && parser_is_at(parser, operators[i].text))
			return i;
	return ARRAY_SIZE(operators);
}

/*
 * Operators of at least this level. Comparisons do not chain: "1 < arg0 < 5" says something else than it
 * seems to.
 */
static int parse_expression(struct parser *parser, int level, struct condition_node **ret_node)
{
	CLEANUP(node_freep) struct condition_node *left = NULL;
	bool compared = false;
	int err = parse_unary(parser, &left);
	size_t i;

	while (!err && (i = operator_at(parser, level)) < ARRAY_SIZE(operators)) {
		bool compares = operators[i].level == 6 || operators[i].level == 7;
		CLEANUP(node_freep) struct condition_node *right = NULL;

		if (compares && compared)
			return lexer_fail(&parser->lexer, parser->lexer.token.begin,
					  "comparisons cannot be chained: join two of them with &&");
		compared = compares;
		if (operators[i].op == OP_ADD || operators[i].op == OP_SUB)
			err = check_pointee(parser, left->type);
		if (!err)
			err = lexer_next(&parser->lexer);
		if (!err)
			err = parse_expression(parser, operators[i].level + 1, &right);
		if (!err)
			err = join(&left, i, TAKE_PTR(right));
	}
	if (!err)
		*ret_node = TAKE_PTR(left);
	return err;
}

int parser_expression(struct parser *parser, struct condition_node **ret_node)
{
	return parse_expression(parser, 0, ret_node);
}
