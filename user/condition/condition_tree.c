/* SPDX-License-Identifier: BSD-2-Clause */
/* A node owns its children. */
#include "condition/condition_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "elf/types/elf_fields.h"

void node_free(struct condition_node *node)
{
	if (!node)
		return;
	node_free(node->left);
	node_free(node->right);
	node_free(node->count);
	elf_enum_free(node->constants);
	free(node);
}

int node_add(struct condition_node **ret_node, enum node_kind kind, struct value_type type)
{
	struct condition_node *node = calloc(1, sizeof(*node));

	if (!node)
		return -ENOMEM;
	node->kind = kind;
	node->type = type;
	*ret_node = node;
	return 0;
}

int node_wrap(struct condition_node **node, enum node_kind kind, struct value_type type)
{
	struct condition_node *outer;
	int err = node_add(&outer, kind, type);

	if (err)
		return err;
	outer->left = *node;
	*node = outer;
	return 0;
}

int node_add_binary(struct condition_node **left, enum binary_op op, struct condition_node *right,
		    struct value_type type)
{
	int err = node_wrap(left, NODE_BINARY, type);

	if (err) {
		node_free(right);
		return err;
	}
	(*left)->op = op;
	(*left)->is_signed = true;
	(*left)->right = right;
	return 0;
}

void condition_note(struct condition *condition, const struct condition_node *node)
{
	if (!node)
		return;
	if (node->kind == NODE_ARG && !elf_is_on_stack((unsigned int)node->number))
		condition->asks_args |= 1u << node->number;
	condition->asks_result |= node->kind == NODE_RET;
	condition->asks_elapsed |= node->kind == NODE_ELAPSED;
	condition->asks_return |= node->kind == NODE_RET || node->kind == NODE_ELAPSED;
	condition->reads_memory |= node->kind == NODE_LOAD || node->kind == NODE_TEXT_IS;
	condition_note(condition, node->left);
	condition_note(condition, node->right);
	condition_note(condition, node->count);
}
