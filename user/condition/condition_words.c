/* SPDX-License-Identifier: BSD-2-Clause */
/* Each register has two names: the whole register and its low half. */
#include "condition/condition_words.h"

#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"

static bool is(const char *name, size_t len, const char *wanted)
{
	return wanted && strlen(wanted) == len && !strncmp(name, wanted, len);
}

static bool find_register(const char *name, size_t len, struct word *ret_word)
{
	unsigned int width;
	int reg = arch_register_find(name, len, &width);

	if (reg < 0 || width > 1)
		return false;
	*ret_word = (struct word){
		NODE_REGISTER, (uint64_t)reg, {.size = (uint8_t)(8 >> width), .is_signed = true}};
	return true;
}

/* "arg0" to "arg11" */
static bool find_arg(const char *name, size_t len, struct word *ret_word)
{
	for (uint64_t i = 0; i < HIT_ARG_CNT; i++) {
		char arg[8];

		snprintf(arg, sizeof(arg), "arg%d", (int)i);
		if (!is(name, len, arg))
			continue;
		*ret_word = (struct word){NODE_ARG, i, {.size = 8, .is_signed = true}};
		return true;
	}
	return false;
}

bool word_find(const char *name, size_t len, struct word *ret_word)
{
	static const struct {
		const char *name;
		enum node_kind kind;
	} words[] = {
		{"ret", NODE_RET}, {"elapsed", NODE_ELAPSED}, {"pid", NODE_PID},      {"tid", NODE_TID},
		{"cpu", NODE_CPU}, {"cgroup", NODE_CGROUP},   {"comm", NODE_COMM_IS}, {"str", NODE_TEXT_IS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!is(name, len, words[i].name))
			continue;
		*ret_word = (struct word){words[i].kind, 0, {.size = 8, .is_signed = true}};
		return true;
	}
	return find_arg(name, len, ret_word) || find_register(name, len, ret_word);
}

/* ---- types ---- */

bool type_words_add(struct type_words *words, const char *name, size_t len)
{
	static const struct {
		const char *name;
		uint8_t size;
		bool is_signed;
	} types[] = {
		{"char", 1, true},     {"short", 2, true},     {"int", 4, true},       {"long", 8, true},
		{"u8", 1, false},      {"u16", 2, false},      {"u32", 4, false},      {"u64", 8, false},
		{"s8", 1, true},       {"s16", 2, true},       {"s32", 4, true},       {"s64", 8, true},
		{"uint8_t", 1, false}, {"uint16_t", 2, false}, {"uint32_t", 4, false}, {"uint64_t", 8, false},
		{"int8_t", 1, true},   {"int16_t", 2, true},   {"int32_t", 4, true},   {"int64_t", 8, true},
		{"bool", 1, false},    {"size_t", 8, false},   {"ssize_t", 8, true},   {"void", 8, true},
	};

	if (is(name, len, "unsigned") || is(name, len, "signed")) {
		words->is_unsigned = *name == 'u';
		return true;
	}
	if (is(name, len, "const") || is(name, len, "struct"))
		return *name == 'c';
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (!is(name, len, types[i].name))
			continue;
		/* "short int", "long int", "long long" */
		if (!words->has_size || types[i].size == 8)
			words->size = types[i].size;
		words->has_size = true;
		if (!types[i].is_signed)
			words->is_unsigned = true;
		return true;
	}
	return false;
}

struct value_type type_words_end(const struct type_words *words)
{
	return (struct value_type){.size = words->has_size ? words->size : 4,
				   .is_signed = !words->is_unsigned};
}
