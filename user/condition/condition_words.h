/* SPDX-License-Identifier: BSD-2-Clause */
/* The names a condition knows: values and types. */
#pragma once

#include "condition/condition_tree.h"

struct word {
	enum node_kind kind;
	uint64_t number;
	struct value_type type;
};

/* False: there is no such word. */
bool word_find(const char *name, size_t len, struct word *ret_word);

/* A type's name under construction: "unsigned", then "long", then "long". All 0 at first. */
struct type_words {
	bool is_unsigned, has_size;
	uint8_t size;
};

/* False: the word cannot be part of the type's name. */
bool type_words_add(struct type_words *words, const char *name, size_t len);
struct value_type type_words_end(const struct type_words *words);
