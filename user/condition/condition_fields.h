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
 * find() fills *ret_field for argument `nth` and a path as of elf_file_find_field(), find_name() *ret_name
 * for a name as of elf_file_find_name(). Negative with a sentence. find_enum() is elf_file_find_enum().
 */
struct field_lookup {
	int (*find)(void *ctx, unsigned int nth, const char *path, struct elf_field *ret_field);
	int (*find_name)(void *ctx, const char *name, struct elf_name *ret_name);
	int (*find_enum)(void *ctx, unsigned int nth, const char *path, struct elf_enum **ret_constants);
	void *ctx;
};

/*
 * Makes *ret_node from a name that is no word of conditions: a parameter (NODE_ARG), without its type, or a
 * constant; some number if `lookup` is NULL. -EINVAL as condition_parse(); -ENOMEM.
 */
int condition_name(const struct lexer *lexer, const struct token *name, const struct field_lookup *lookup,
		   struct condition_node **ret_node);

/* Gives an argument that was named, *node, the type of its parameter. Errors as condition_name(). */
int condition_type(const struct lexer *lexer, const char *place, const struct field_lookup *lookup,
		   struct condition_node **node);

/*
 * Parses a field. The current token is the first -> or . after an argument, which begins at `place` and is
 * *node. *node becomes the value of the field, or some number if `lookup` is NULL. -EINVAL as
 * condition_parse(); -ENOMEM.
 */
int condition_field(struct lexer *lexer, const char *place, const struct field_lookup *lookup,
		    struct condition_node **node);

/*
 * Makes the value that `path` leads to from *node, which is argument `nth` or, of ELF_RESULT, the return
 * value. *node is not changed where there is none. Errors of find(); -ENOMEM.
 */
int condition_value(const struct field_lookup *lookup, unsigned int nth, const char *path,
		    struct condition_node **node, struct elf_field *ret_field);

/*
 * Parses the trigger's condition and prints (each may be NULL), with the names of its functions' source.
 * 0; errors as condition_parse_with(); -EINVAL also if a name means different things in two of the
 * functions. Without prints (NULL) they are those of condition/condition_values.h, and none if it is "none".
 */
int condition_parse_rule(struct trigger *trigger, const char *condition, const char *prints);
