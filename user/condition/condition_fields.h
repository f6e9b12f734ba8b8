/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the source in conditions: parameters, constants, and fields ("req->conn->fd": one load for each
 * pointer).
 */
#pragma once

#include "condition/condition_lexer.h"
#include "condition/condition_tree.h"
#include "elf/types/elf_fields.h"

struct trigger;

/*
 * find() fills *ret_field for argument `nth` and a path as of elf_file_find_field(), find_name() *ret_name for
 * a name as of elf_file_find_name(). Negative with a sentence.
 */
struct field_lookup {
	int (*find)(void *ctx, unsigned int nth, const char *path, struct elf_field *ret_field);
	int (*find_name)(void *ctx, const char *name, struct elf_name *ret_name);
	void *ctx;
};

/*
 * Makes *ret_node from a name that is no word of conditions: a parameter (NODE_ARG), without its type, or a
 * constant; some number if `lookup` is NULL. -EINVAL as condition_parse(); -ENOMEM.
 */
int condition_name(const struct lexer *lexer, const struct token *name, const struct field_lookup *lookup,
		   struct node **ret_node);

/* Gives an argument that was named, *node, the type of its parameter. Errors as condition_name(). */
int condition_type(const struct lexer *lexer, const char *place, const struct field_lookup *lookup,
		   struct node **node);

/*
 * Parses a field. The current token is the first -> or . after an argument, which begins at `place` and is
 * *node. *node becomes the value of the field, or some number if `lookup` is NULL. -EINVAL as
 * condition_parse(); -ENOMEM.
 */
int condition_field(struct lexer *lexer, const char *place, const struct field_lookup *lookup,
		    struct node **node);

/*
 * Parses the trigger's condition and prints (each may be NULL), with the names of its functions' source.
 * 0; errors as condition_parse_with(); -EINVAL also if a name means different things in two of the
 * functions.
 */
int condition_parse_rule(struct trigger *trigger, const char *condition, const char *prints);
