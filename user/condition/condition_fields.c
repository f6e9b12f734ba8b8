/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * If a trigger has several functions, a name must mean the same in all of them, because one condition serves
 * all. Probes at the ends of calls are ignored: arguments are those of the call's beginning.
 */
#include "condition/condition_fields.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "condition/condition.h"
#include "condition/condition_values.h"
#include "condition/prints.h"
#include "elf/elf_file.h"
#include "model/trigger.h"
#include "probe/args/arg_layout.h"
#include "probe/debug_package.h"

enum { PATH_BYTES = 512 };

static const struct value_type word = {.size = 8, .is_signed = true};

/* ---- in the text ---- */

static bool is_step(const struct token *token)
{
	return token->kind == TOKEN_PUNCTUATION && ((token->len == 2 && !strncmp(token->begin, "->", 2)) ||
						    (token->len == 1 && *token->begin == '.'));
}

static int append(const struct lexer *lexer, char *path)
{
	size_t len = strlen(path);

	if (len + lexer->token.len >= PATH_BYTES)
		return lexer_fail(lexer, lexer->token.begin, "this is too long: at most %d bytes",
				  PATH_BYTES - 1);
	memcpy(path + len, lexer->token.begin, lexer->token.len);
	path[len + lexer->token.len] = '\0';
	return 0;
}

/* "->conn->fd", without spaces */
static int read_path(struct lexer *lexer, char *path)
{
	int err = 0;

	*path = '\0';
	while (!err && is_step(&lexer->token)) {
		err = append(lexer, path);
		if (!err)
			err = lexer_next(lexer);
		if (!err && lexer->token.kind != TOKEN_NAME)
			err = lexer_fail(lexer, lexer->token.begin, "the name of a field belongs here");
		if (!err)
			err = append(lexer, path);
		if (!err)
			err = lexer_next(lexer);
	}
	return err;
}

/* ---- in the tree ---- */

static int add_offset(struct condition_node **node, uint64_t offset, struct value_type type)
{
	struct condition_node *number;
	int err = node_add(&number, NODE_NUMBER, type);

	if (err)
		return err;
	number->number = offset;
	return node_add_binary(node, OP_ADD, number, type);
}

static int add_shift(struct condition_node **node, enum binary_op op, uint64_t bits, bool is_signed)
{
	struct condition_node *number;
	int err = node_add(&number, NODE_NUMBER, word);

	if (err)
		return err;
	number->number = bits;
	err = node_add_binary(node, op, number, (struct value_type){8, is_signed, 0});
	if (!err)
		(*node)->is_signed = is_signed;
	return err;
}

/* Of the unit that has been loaded. As in C, what fits into a signed number is one. */
static int add_bits(struct condition_node **node, const struct elf_field *field)
{
	int err = add_shift(node, OP_SHL, 64u - field->bit_cnt - field->bit_shift, field->is_signed);

	if (!err)
		err = add_shift(node, OP_SHR, 64u - field->bit_cnt, field->is_signed);
	if (!err && field->bit_cnt < 64)
		(*node)->type.is_signed = true;
	return err;
}

/* A part of a struct in registers is there already, as if it had been loaded. */
static int take_part(struct condition_node **node, const struct elf_field *field)
{
	(*node)->number += field->skip;
	return field->shift ? add_shift(node, OP_SHR, field->shift, false) : 0;
}

static int add_loads(struct condition_node **node, const struct elf_field *field)
{
	struct value_type type = {.size = field->size, .is_signed = field->is_signed, .depth = field->depth};
	bool is_there = field->cnt == field->in_register;
	int err = field->in_register ? take_part(node, field) : 0;

	for (size_t i = field->in_register; i < field->cnt && !err; i++) {
		if (i > field->in_register)
			err = node_wrap(node, NODE_LOAD, word);
		if (!err)
			err = add_offset(node, field->offsets[i], word);
	}
	if (err)
		return err;
	/* The cast changes nothing but the type. */
	err = node_wrap(node, is_there || field->is_array ? NODE_CAST : NODE_LOAD, type);
	return err || !field->bit_cnt ? err : add_bits(node, field);
}

/* How many elements *node, made from `base`, points to. */
static int add_count(struct condition_node **node, const struct condition_node *base,
		     const struct elf_field *field)
{
	CLEANUP(node_freep) struct condition_node *count = NULL;
	struct elf_field at = *field;
	int err = node_add(&count, base->kind, base->type);

	if (err)
		return err;
	count->number = base->number;
	at.size = 8;
	at.depth = 0;
	at.is_signed = true;
	if (at.in_register && at.cnt == 1)
		at.skip = (uint8_t)(at.skip + at.count_at / 8);
	else
		at.offsets[at.cnt - 1] += (uint64_t)at.count_at;
	err = add_loads(&count, &at);
	if (!err)
		(*node)->count = TAKE_PTR(count);
	return err;
}

int condition_value(const struct field_lookup *lookup, unsigned int nth, const char *path,
		    struct condition_node **node, struct elf_field *ret_field)
{
	CLEANUP(elf_enum_freep) struct elf_enum *constants = NULL;
	int err = lookup->find(lookup->ctx, nth, path, ret_field);
	struct condition_node base;

	if (!err)
		err = lookup->find_enum(lookup->ctx, nth, path, &constants);
	if (err)
		return err;
	base = **node;
	err = add_loads(node, ret_field);
	if (!err && ret_field->count_at)
		err = add_count(node, &base, ret_field);
	if (!err)
		(*node)->constants = TAKE_PTR(constants);
	return err;
}

int condition_field(struct lexer *lexer, const char *place, const struct field_lookup *lookup,
		    struct condition_node **node)
{
	struct elf_field field = {.cnt = 1, .size = 8};
	unsigned int nth = (unsigned int)(*node)->number;
	char path[PATH_BYTES];
	int err = read_path(lexer, path);

	if (err)
		return err;
	err = lookup ? condition_value(lookup, nth, path, node, &field) : add_loads(node, &field);
	return err && err != -ENOMEM ? lexer_fail(lexer, place, "%s", fail_message(err)) : err;
}

/* ---- names ---- */

int condition_name(const struct lexer *lexer, const struct token *name, const struct field_lookup *lookup,
		   struct condition_node **ret_node)
{
	CLEANUP(freep) char *text = strndup(name->begin, name->len);
	struct elf_name found = {.is_constant = true};
	int err = !text ? -ENOMEM : lookup ? lookup->find_name(lookup->ctx, text, &found) : 0;

	if (err == -ENOMEM)
		return err;
	if (err)
		return lexer_fail(lexer, name->begin, "%s", fail_message(err));
	err = node_add(ret_node, found.is_constant ? NODE_NUMBER : NODE_ARG, word);
	if (!err)
		(*ret_node)->number = found.is_constant ? found.constant : found.nth;
	return err;
}

int condition_type(const struct lexer *lexer, const char *place, const struct field_lookup *lookup,
		   struct condition_node **node)
{
	struct elf_field field;
	int err = condition_value(lookup, (unsigned int)(*node)->number, "", node, &field);

	return err && err != -ENOMEM ? lexer_fail(lexer, place, "%s", fail_message(err)) : err;
}

/* ---- in the trigger's functions ---- */

struct functions {
	const struct trigger *trigger;
	struct elf_file *file; /* the one that was asked last */
};

/* Its parameters are not those of the source. */
static bool is_changed_copy(const char *name)
{
	return strstr(name, ".isra.") || strstr(name, ".constprop.") || strstr(name, ".part.");
}

static int open_file(struct functions *functions, const struct probe *probe)
{
	if (functions->file && !strcmp(elf_file_path(functions->file), probe->path))
		return 0;
	elf_file_close(functions->file);
	functions->file = NULL;
	return elf_file_open(&functions->file, probe->path);
}

/* The registers are those of the function's beginning, and so is its stack. */
static bool is_known(const struct arg_layout *layout, unsigned int nth)
{
	return elf_is_on_stack(nth) ? layout->convention == ARGS_C
				    : nth < HIT_ARG_CNT && layout->known >> nth & 1;
}

static int find_in(struct functions *functions, const struct probe *probe, unsigned int nth, const char *path,
		   struct elf_field *ret_field)
{
	const struct elf_symbol *symbol;
	int err;

	if (probe->layout->convention == ARGS_USDT)
		return fail(-EINVAL,
			    "the type of arg%u is not known: %s is a USDT probe, whose note gives only "
			    "sizes: write *(int *)(arg%u + 8), for instance",
			    nth, probe->symbol, nth);
	if (nth != ELF_RESULT && !is_known(probe->layout, nth))
		return arg_layout_fail(probe, nth);
	err = open_file(functions, probe);
	if (err)
		return err;
	symbol = elf_file_symbol_at(functions->file, probe->addr);
	if (symbol && is_changed_copy(symbol->name))
		return fail(-EINVAL,
			    "the compiler has changed the parameters of %s, so arg%u may be another one: "
			    "write *(int *)(arg%u + 8), for instance",
			    symbol->name, nth, nth);
	err = elf_file_find_field(functions->file, probe->addr, probe->symbol, nth, path, ret_field);
	/* Of the last register, the length is on the stack. */
	if (!err && ret_field->in_register && ret_field->cnt == 1 &&
	    !(probe->layout->known >> (nth + ret_field->skip + ret_field->count_at / 8) & 1))
		ret_field->count_at = 0;
	return err;
}

static int find_enum_in_first(void *ctx, unsigned int nth, const char *path, struct elf_enum **ret_constants)
{
	struct functions *functions = ctx;
	const struct trigger *trigger = functions->trigger;
	size_t i = 0;
	int err;

	*ret_constants = NULL;
	while (i < trigger->probe_cnt && trigger->probes[i].at == PROBE_CALL_END)
		i++;
	if (i == trigger->probe_cnt)
		return 0;
	err = open_file(functions, &trigger->probes[i]);
	return err ? err
		   : elf_file_find_enum(functions->file, trigger->probes[i].addr, trigger->probes[i].symbol,
					nth, path, ret_constants);
}

static bool is_same(const struct elf_field *a, const struct elf_field *b)
{
	return a->cnt == b->cnt && !memcmp(a->offsets, b->offsets, sizeof(a->offsets)) &&
	       a->size == b->size && a->is_signed == b->is_signed && a->depth == b->depth &&
	       a->is_array == b->is_array && a->bit_cnt == b->bit_cnt && a->bit_shift == b->bit_shift &&
	       a->in_register == b->in_register && a->skip == b->skip && a->shift == b->shift &&
	       a->count_at == b->count_at;
}

static int find_in_all(void *ctx, unsigned int nth, const char *path, struct elf_field *ret_field)
{
	struct functions *functions = ctx;
	const struct probe *first = NULL;

	for (size_t i = 0; i < functions->trigger->probe_cnt; i++) {
		const struct probe *probe = &functions->trigger->probes[i];
		struct elf_field field;
		int err = probe->at == PROBE_CALL_END ? 0 : find_in(functions, probe, nth, path, &field);

		if (err)
			return err;
		if (probe->at == PROBE_CALL_END)
			continue;
		if (first && !is_same(&field, ret_field))
			return fail(-EINVAL, "arg%u%s is %s in %s and %s: name one function", nth, path,
				    *path ? "at different places" : "of different types", probe->symbol,
				    first->symbol);
		first = probe;
		*ret_field = field;
	}
	return 0;
}

static int fail_no_debug(const struct probe *probe, const char *name)
{
	CLEANUP(freep) char *package = debug_package_find(probe->path, DEBUG_PACKAGE_LISTS);

	return fail(
		-ENOENT,
		"'%s' is unknown: there is no debug information for %s, which has the names: compile with "
		"-g, install %s, or write arg0 to arg11, a register, ret, elapsed, pid, tid, cpu, cgroup, "
		"comm or str(...)",
		name, probe->symbol, package ? package : "the debug file");
}

static int find_name_in(struct functions *functions, const struct probe *probe, const char *name,
			struct elf_name *ret_name)
{
	int err;

	if (probe->layout->convention == ARGS_USDT)
		return fail(
			-EINVAL,
			"'%s' is unknown: %s is a USDT probe, whose note gives no names: write arg0, arg1, "
			"...",
			name, probe->symbol);
	err = open_file(functions, probe);
	if (!err)
		err = elf_file_find_name(functions->file, probe->addr, probe->symbol, name, ret_name);
	if (err == -ENODATA)
		return fail_no_debug(probe, name);
	if (err || ret_name->is_constant)
		return err;
	if (is_known(probe->layout, ret_name->nth))
		return 0;
	return fail_prefix(arg_layout_fail(probe, ret_name->nth), "%s", name);
}

static int find_name_in_all(void *ctx, const char *name, struct elf_name *ret_name)
{
	struct functions *functions = ctx;
	const struct probe *first = NULL;

	for (size_t i = 0; i < functions->trigger->probe_cnt; i++) {
		const struct probe *probe = &functions->trigger->probes[i];
		struct elf_name found;
		int err;

		if (probe->at == PROBE_CALL_END)
			continue;
		err = find_name_in(functions, probe, name, &found);
		if (err)
			return err;
		if (first && (found.is_constant != ret_name->is_constant || found.nth != ret_name->nth ||
			      found.constant != ret_name->constant))
			return fail(-EINVAL, "'%s' is not the same in %s and %s: name one function", name,
				    probe->symbol, first->symbol);
		first = probe;
		*ret_name = found;
	}
	return 0;
}

/* ---- what is no integer ---- */

static uint32_t asked_args(const struct trigger_rule *rule)
{
	return (rule->condition ? condition_asks_args(rule->condition) : 0) |
	       (rule->prints ? prints_ask_args(rule->prints) : 0);
}

static bool asks_result(const struct trigger_rule *rule)
{
	return (rule->condition && condition_asks_result(rule->condition)) ||
	       (rule->prints && prints_ask_result(rule->prints));
}

static int check_function(struct functions *functions, const struct probe *probe)
{
	const struct trigger_rule *rule = &functions->trigger->rule;
	uint32_t args = asked_args(rule);
	int err = open_file(functions, probe);

	if (!err && asks_result(rule))
		err = elf_file_check_result(functions->file, probe->addr, probe->symbol);
	for (unsigned int nth = 0; args >> nth && !err; nth++)
		if (args >> nth & 1)
			err = elf_file_check_argument(functions->file, probe->addr, probe->symbol, nth);
	return err;
}

/* A register holds something else where a floating-point number was meant. */
static int check_integers(struct functions *functions)
{
	const struct trigger *trigger = functions->trigger;
	int err = 0;

	if (!asked_args(&trigger->rule) && !asks_result(&trigger->rule))
		return 0;
	for (size_t i = 0; i < trigger->probe_cnt && !err; i++)
		if (trigger->probes[i].at != PROBE_CALL_END &&
		    trigger->probes[i].layout->convention == ARGS_C)
			err = check_function(functions, &trigger->probes[i]);
	return err;
}

int condition_parse_rule(struct trigger *trigger, const char *condition, const char *prints)
{
	struct functions functions = {.trigger = trigger};
	struct field_lookup lookup = {.find = find_in_all,
				      .find_name = find_name_in_all,
				      .find_enum = find_enum_in_first,
				      .ctx = &functions};
	bool is_none = prints && !strcmp(prints, "none");
	int err = condition ? condition_parse_with(&trigger->rule.condition, condition, &lookup) : 0;

	if (!err && prints && !is_none)
		err = prints_parse_with(&trigger->rule.prints, prints, &lookup);
	if (!err)
		err = check_integers(&functions);
	if (!err && !prints)
		err = condition_add_values(trigger, &lookup);
	elf_file_close(functions.file);
	return err;
}
