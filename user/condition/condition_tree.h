/* SPDX-License-Identifier: BSD-2-Clause */
/* The syntax tree of a condition: the parser makes it, the code generator reads it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "bpf/hit_action.h"
#include "condition/prints.h"
#include "elf/types/elf_fields.h"

enum { CONDITION_STRING_MAX = 62 };

/* A type: an integer of `size` bytes, or with `depth` > 0 a pointer to one, `depth` pointers deep. */
struct value_type {
	uint8_t size; /* 1, 2, 4, 8; 0: a pointer to something else, a struct for instance */
	bool is_signed;
	uint8_t depth;
};

enum node_kind {
	NODE_NUMBER,
	NODE_REGISTER, /* number: enum hit_reg; type: how much of it */
	NODE_ARG,      /* number: which; from ELF_ON_STACK on, its address */
	NODE_RET,
	NODE_ELAPSED,
	NODE_PID,
	NODE_TID,
	NODE_CPU,
	NODE_CGROUP,
	NODE_IN_CGROUP, /* number: its id, level: how deep it is */
	NODE_COMM_IS,	/* text */
	NODE_TEXT_IS,	/* text at left */
	NODE_CAST,	/* left, to type */
	NODE_LOAD,	/* type at left */
	NODE_NEGATE,
	NODE_COMPLEMENT,
	NODE_NOT,
	NODE_AND,
	NODE_OR,
	NODE_BINARY, /* op */
};

enum binary_op {
	OP_BITOR,
	OP_BITXOR,
	OP_BITAND,
	OP_EQ,
	OP_NE,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_SHL,
	OP_SHR,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
};

struct condition_node {
	enum node_kind kind;
	enum binary_op op;
	bool is_signed; /* of op: its operands are signed */
	struct value_type type;
	uint64_t number;
	int level;
	char text[CONDITION_STRING_MAX + 1];
	bool is_prefix;		    /* of text: it ended in '*' */
	struct elf_enum *constants; /* names for the value; owned; NULL: none */
	struct condition_node *left, *right;
	struct condition_node
		*count; /* of the address of a text or slice: its length; NULL: a text ends in a 0 byte */
};

struct condition {
	struct condition_node *root;
	uint32_t asks_args; /* bit N: argN */
	bool asks_return, asks_elapsed;
	bool asks_result; /* `ret` itself */
	bool reads_memory;
};

struct print_item {
	char *name;
	const char *lack;	     /* why there is no value; NULL: there is one, computed by `root` */
	struct condition_node *root; /* of a text: its address */
	bool is_text;
	bool is_result;	     /* only a hit at a return instruction has it */
	uint8_t address_arg; /* of a text: N + 1: argN is its address; 0: some other value is */
	uint32_t max;	     /* of a text: bytes */
	uint32_t offset;     /* offset of the value */
};

struct prints {
	struct print_item items[PRINTS_MAX];
	size_t cnt;
	uint32_t bytes;
	bool is_automatic;	/* nobody has asked for them: they must not change what the program does */
	struct condition asked; /* what all of them use; no root */
};

/* The item's room behind those that are there. `bytes` of all items must not change afterwards. */
void prints_place(struct prints *prints, struct print_item *item);

void node_free(struct condition_node *node);

/* Adds what the tree uses to asks_... and reads_memory. `node` may be NULL. */
void condition_note(struct condition *condition, const struct condition_node *node);

/* Makes a node. 0 or -ENOMEM, as for all functions here. */
int node_add(struct condition_node **ret_node, enum node_kind kind, struct value_type type);

/* Wraps *node, which becomes its left child. */
int node_wrap(struct condition_node **node, enum node_kind kind, struct value_type type);

/* Replaces *left by the signed operation on it and `right`, which is taken over even on failure. */
int node_add_binary(struct condition_node **left, enum binary_op op, struct condition_node *right,
		    struct value_type type);

DEFINE_CLEANUP(struct condition_node *, node_free)
