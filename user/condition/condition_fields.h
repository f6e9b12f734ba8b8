/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of arguments in conditions ("arg0->conn->fd"): one load for each pointer. */
#pragma once

#include "condition/condition_lexer.h"
#include "condition/condition_tree.h"
#include "elf/elf_fields.h"

struct trigger;

/*
 * find() fills *ret_field for argument `nth` and a path as of elf_file_find_field(). Negative with a
 * sentence.
 */
struct field_lookup {
	int (*find)(void *ctx, unsigned int nth, const char *path, struct elf_field *ret_field);
	void *ctx;
};

/*
 * Parses a field. The current token is the first -> or . after an argument, which begins at `place` and is
 * *node. *node becomes the value of the field, or some number if `lookup` is NULL. -EINVAL as
 * condition_parse(); -ENOMEM.
 */
int condition_field(struct lexer *lexer, const char *place, const struct field_lookup *lookup,
		    struct node **node);

/*
 * Parses the trigger's condition and prints (each may be NULL), with the fields of its functions' arguments.
 * 0; errors as condition_parse_with(); -EINVAL also if a field is at different places in two of the
 * functions.
 */
int condition_parse_rule(struct trigger *trigger, const char *condition, const char *prints);
