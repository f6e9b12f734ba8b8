/* SPDX-License-Identifier: BSD-2-Clause */
/* "arg0->conn->fd" in conditions: loads, one for each pointer on the way. */
#pragma once

#include "condition/condition_lexer.h"
#include "condition/condition_tree.h"
#include "elf/elf_fields.h"

struct trigger;

/*
 * Fills *ret_field for argument `nth` and a path as elf_file_find_field() takes it. Negative with a sentence.
 */
struct field_lookup {
	int (*find)(void *ctx, unsigned int nth, const char *path, struct elf_field *ret_field);
	void *ctx;
};

/*
 * The token at hand is the first -> or . behind an argument, which begins at `place` and is *node: that
 * becomes the value of the field. `lookup` NULL: some number. -EINVAL as condition_parse(); -ENOMEM.
 */
int condition_field(struct lexer *lexer, const char *place, const struct field_lookup *lookup,
		    struct node **node);

/*
 * Parses the rule's condition and prints (each may be NULL), with the fields of the arguments that the
 * trigger's functions have. 0; -EINVAL as condition_parse_with(), also where a field lies elsewhere in one of
 * the functions than in another.
 */
int condition_parse_rule(struct trigger *trigger, const char *condition, const char *prints);
