/* SPDX-License-Identifier: BSD-2-Clause */
#include "condition/condition.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "condition/condition_fields.h"
#include "condition/condition_tree.h"
#include "condition/parser.h"

int condition_parse(struct condition **ret_condition, const char *text)
{
	return condition_parse_with(ret_condition, text, NULL);
}

int condition_parse_with(struct condition **ret_condition, const char *text,
			 const struct field_lookup *fields)
{
	CLEANUP(condition_freep) struct condition *condition = calloc(1, sizeof(*condition));
	struct parser parser = {.fields = fields};
	const struct token *token = &parser.lexer.token;
	int err;

	if (!condition)
		return -ENOMEM;
	if (strlen(text) > CONDITION_TEXT_MAX)
		return fail(-EINVAL, "a condition of %zu bytes is too long: at most %d", strlen(text),
			    CONDITION_TEXT_MAX);
	err = lexer_begin(&parser.lexer, text);
	if (!err)
		err = parser_expression(&parser, &condition->root);
	if (!err && parser_is_at_step(&parser))
		err = lexer_fail(&parser.lexer, token->begin, "only arguments have fields: argN->FIELD");
	if (!err && token->kind != TOKEN_END)
		err = lexer_fail(&parser.lexer, token->begin,
				 "an operator (&& or ||, for instance) is missing before this");
	if (err)
		return err;
	condition_note(condition, condition->root);
	*ret_condition = TAKE_PTR(condition);
	return 0;
}

void condition_free(struct condition *condition)
{
	if (!condition)
		return;
	node_free(condition->root);
	free(condition);
}

bool condition_asks_elapsed(const struct condition *condition)
{
	return condition->asks_elapsed;
}

bool condition_asks_return(const struct condition *condition)
{
	return condition->asks_return;
}

bool condition_asks_result(const struct condition *condition)
{
	return condition->asks_result;
}

uint32_t condition_asks_args(const struct condition *condition)
{
	return condition->asks_args;
}

bool condition_reads_memory(const struct condition *condition)
{
	return condition->reads_memory;
}
