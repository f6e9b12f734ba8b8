/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program made by the Go compiler may hold functions of C, too (cgo). The linker puts Go code between two
 * symbols. Functions with arguments on the stack (assembly that Go calls through a wrapper) have names that
 * end in ".abi0".
 */
#include "probe/args/arg_layout.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "elf/types/elf_fields.h"
#include "model/trigger.h"
#include "probe/args/usdt_args.h"

#define IN_REGISTER(reg)                                                                              \
	{                                                                                             \
		.kind = USDT_ARG_REGISTER, .size = 8, .base = (reg), .index = USDT_NO_REG, .scale = 1 \
	}

static const struct arg_layout c_layout = {
	.convention = ARGS_C,
	.known = (1u << ARCH_C_ARG_CNT) - 1,
	.args = {ARCH_C_ARGS(IN_REGISTER)},
};

static const struct arg_layout go_layout = {
	.convention = ARGS_GO,
	.known = (1u << ARCH_GO_ARG_CNT) - 1,
	.args = {ARCH_GO_ARGS(IN_REGISTER)},
};

static const struct arg_layout go_stack_layout = {.convention = ARGS_GO_STACK};
static const struct arg_layout within_layout = {.convention = ARGS_WITHIN};

static bool is_on_stack(const char *name)
{
	static const char suffix[] = ".abi0";
	size_t len = strlen(name);

	return len >= sizeof(suffix) && !strcmp(name + len - strlen(suffix), suffix);
}

const struct arg_layout *arg_layout_of_function(struct elf_file *file, const struct elf_symbol *function)
{
	if (!elf_file_is_go_code(file, function->addr))
		return &c_layout;
	return is_on_stack(function->name) || !elf_file_go_passes_in_registers(file) ? &go_stack_layout
										     : &go_layout;
}

const struct arg_layout *arg_layout_within(void)
{
	return &within_layout;
}

int arg_layout_of_usdt(struct arg_layout *ret_layout, struct elf_file *file, const struct elf_usdt *usdt)
{
	struct arg_layout layout = {.convention = ARGS_USDT};
	int err = usdt_args_parse_known(usdt, file, layout.args, ARRAY_SIZE(layout.args));

	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(layout.args); i++)
		layout.known |= layout.args[i].kind == USDT_ARG_NONE ? 0 : 1u << i;
	*ret_layout = layout;
	return 0;
}

int arg_layout_fail(const struct probe *probe, unsigned int nth)
{
	const char *sp = arch_register_names[HIT_SP][0];
	char arg[32] = "it";

	if (!elf_is_on_stack(nth))
		snprintf(arg, sizeof(arg), "arg%u", nth);
	switch (probe->layout->convention) {
	case ARGS_C:
		return fail(-EINVAL,
			    "%s of %s is not in a register: C passes only the integer arguments arg0 to "
			    "arg5 there, and the further ones on the stack: write their names, or "
			    "*(long *)(%s + 8) and up",
			    arg, probe->symbol, sp);
	case ARGS_GO:
		return fail(-EINVAL, "%s of %s is not in a register: Go passes only arg0 to arg8 there", arg,
			    probe->symbol);
	case ARGS_GO_STACK:
		return fail(-EINVAL,
			    "%s of %s is not in a register: Go passes its arguments on the stack "
			    "(assembly, or Go 1.16 and before): write *(long *)(%s + 8), for instance",
			    arg, probe->symbol, sp);
	case ARGS_USDT:
		return fail(-EINVAL,
			    "%s has no %s that is an integer or an address ('trailcam probes' shows what "
			    "it has)",
			    probe->symbol, arg);
	default:
		return fail(-EINVAL,
			    "%s is unknown at %s, which is not the beginning of a function: name the "
			    "function, or registers (%s, %s, ...)",
			    arg, probe->symbol, arch_register_names[arch_c_args[0]][0],
			    arch_register_names[HIT_RESULT][0]);
	}
}
