/* SPDX-License-Identifier: BSD-2-Clause */
/* "arg0->conn->fd" in conditions: loads, one for each pointer on the way. */
#pragma once

#include "image/elf_fields.h"
#include "trigger/condition_lexer.h"
#include "trigger/condition_tree.h"

/* Fills *ret_field for argument `nth` and a path as elf_file_find_field() takes it. Negative with a sentence. */
struct field_lookup {
	int (*find)(void *ctx, unsigned int nth, const char *path, struct elf_field *ret_field);
	void *ctx;
};

/*
 * The token at hand is the first -> or . behind an argument, which begins at `place` and is *node: that becomes the value of the field. `lookup` NULL: some number. -EINVAL as
 * condition_parse(); -ENOMEM.
 */
int condition_field(struct lexer *lexer, const char *place, const struct field_lookup *lookup,
		    struct node **node);
