/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *	[-]SIZE@$NUMBER					a constant
 *	[-]SIZE@%REGISTER
 *	[-]SIZE@[NUMBER][(%BASE[,%INDEX[,SCALE]])]	memory
 *	[-]SIZE@SYMBOL[+NUMBER][(%rip)]			memory, which is as far from the probe in the
 *							program as it is in the file
 */
#include "probe/args/usdt_args.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "arch/arch.h"
#include "base/error.h"

struct parser {
	const struct elf_usdt *usdt;
	const struct elf_file *file;
	const char *at;
};

static bool skip(struct parser *parser, char c)
{
	if (*parser->at != c)
		return false;
	parser->at++;
	return true;
}

static bool parse_number(struct parser *parser, __s64 *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = (__s64)strtoull(parser->at, &end, 0);
	if (end == parser->at || errno || isspace((unsigned char)*parser->at))
		return false;
	parser->at = end;
	return true;
}

/* A register is as wide as its name says, but what counts is the size before it. */
static bool find_register(const char *name, size_t len, uint8_t *ret_reg)
{
	unsigned int width;
	int reg = arch_register_find(name, len, &width);

	*ret_reg = (uint8_t)reg;
	return reg >= 0;
}

static bool parse_register(struct parser *parser, uint8_t *ret_reg)
{
	const char *name = parser->at + 1;
	size_t len = *parser->at == '%' ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789") : 0;

	parser->at += len ? len + 1 : 0;
	return find_register(name, len, ret_reg);
}

/* "-4@": the size is a power of two. */
static bool parse_size(struct parser *parser, int8_t *ret_size)
{
	__s64 size;

	if (!parse_number(parser, &size) || !skip(parser, '@'))
		return false;
	*ret_size = (int8_t)size;
	size = size < 0 ? -size : size;
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/*
 * The symbol is where it is relative to the probe; its name goes up to "+4", ARCH_USDT_RELATIVE or the next
 * argument.
 */
static int parse_symbol(struct parser *parser, struct usdt_arg *arg)
{
	size_t len = strcspn(parser->at, "+-( ");
	CLEANUP(freep) char *name = strndup(parser->at, len);
	uint64_t addr;
	__s64 more = 0;

	if (!name)
		return -ENOMEM;
	parser->at += len;
	if (!len || ((*parser->at == '+' || *parser->at == '-') && !parse_number(parser, &more)))
		return -ENOTSUP;
	if (!strncmp(parser->at, ARCH_USDT_RELATIVE, strlen(ARCH_USDT_RELATIVE)))
		parser->at += strlen(ARCH_USDT_RELATIVE);
	if (elf_file_find_data(parser->file, name, &addr))
		return fail(-ENOENT, "usdt:%s:%s has an argument at %s, but %s has no symbol of this name",
			    parser->usdt->provider, parser->usdt->name, name, elf_file_path(parser->file));
	arg->base = HIT_IP;
	arg->offset = (__s64)(addr + (uint64_t)more - parser->usdt->addr);
	return 0;
}

/* "(%rdi)", "(%rdi,%rsi,4)", "(,%rsi,4)" */
static bool parse_address(struct parser *parser, struct usdt_arg *arg)
{
	__s64 scale = 1;

	if (!skip(parser, '('))
		return true;
	if (*parser->at != ',' && !parse_register(parser, &arg->base))
		return false;
	if (skip(parser, ',') && !parse_register(parser, &arg->index))
		return false;
	if (skip(parser, ',') && !parse_number(parser, &scale))
		return false;
	arg->scale = (uint8_t)scale;
	return (scale == 1 || scale == 2 || scale == 4 || scale == 8) && skip(parser, ')');
}

static int parse_memory(struct parser *parser, struct usdt_arg *arg)
{
	char first = *parser->at;

	arg->kind = USDT_ARG_MEMORY;
	if (isalpha((unsigned char)first) || first == '_' || first == '.')
		return parse_symbol(parser, arg);
	if (first != '(' && !parse_number(parser, &arg->offset))
		return -ENOTSUP;
	return parse_address(parser, arg) ? 0 : -ENOTSUP;
}

static int parse_operand(struct parser *parser, struct usdt_arg *arg)
{
	if (skip(parser, '$')) {
		arg->kind = USDT_ARG_CONSTANT;
		return parse_number(parser, &arg->offset) ? 0 : -ENOTSUP;
	}
	if (*parser->at == '%') {
		arg->kind = USDT_ARG_REGISTER;
		return parse_register(parser, &arg->base) ? 0 : -ENOTSUP;
	}
	return parse_memory(parser, arg);
}

static int parse_arg(struct parser *parser, struct usdt_arg *ret_arg)
{
	struct usdt_arg arg = {.base = USDT_NO_REG, .index = USDT_NO_REG, .scale = 1};
	const char *text = parser->at;
	int err = parse_size(parser, &arg.size) ? parse_operand(parser, &arg) : -ENOTSUP;

	if (!err && *parser->at && *parser->at != ' ')
		err = -ENOTSUP;
	if (err == -ENOTSUP)
		return fail(
			err,
			"'%.*s', an argument of usdt:%s:%s in %s, is no integer in a register or in memory",
			(int)strcspn(text, " "), text, parser->usdt->provider, parser->usdt->name,
			elf_file_path(parser->file));
	*ret_arg = arg;
	return err;
}

static int parse_args(const struct elf_usdt *usdt, const struct elf_file *file, bool known_only,
		      struct usdt_arg *ret_args, size_t cap, size_t *ret_cnt)
{
	struct parser parser = {usdt, file, usdt->args};
	size_t cnt = 0;
	int err = 0;

	memset(ret_args, 0, cap * sizeof(*ret_args));
	for (;; cnt++) {
		parser.at += strspn(parser.at, " ");
		if (!*parser.at)
			break;
		if (cnt < cap)
			err = parse_arg(&parser, &ret_args[cnt]);
		if (err && (!known_only || err == -ENOMEM))
			return err;
		parser.at += strcspn(parser.at, " ");
	}
	*ret_cnt = cnt;
	return 0;
}

int usdt_args_parse(const struct elf_usdt *usdt, const struct elf_file *file, struct usdt_arg *ret_args,
		    size_t cap, size_t *ret_cnt)
{
	return parse_args(usdt, file, false, ret_args, cap, ret_cnt);
}

int usdt_args_parse_known(const struct elf_usdt *usdt, const struct elf_file *file, struct usdt_arg *ret_args,
			  size_t cap)
{
	size_t cnt;

	return parse_args(usdt, file, true, ret_args, cap, &cnt);
}
