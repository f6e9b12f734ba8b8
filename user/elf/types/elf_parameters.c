/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nth integer argument is not always the nth parameter: floating-point parameters use other registers, a
 * large result takes the first register for its address, and a struct passed by value may take none, one or
 * two (System V ABI, 3.2.3). What finds no register is on the stack, in the order of the parameters.
 * Ambiguous cases are refused.
 */
#include "elf/types/elf_parameters.h"

#include <dwarf.h>
#include <errno.h>

#include "arch/arch.h"
#include "base/error.h"
#include "elf/elf_internal.h"
#include "elf/types/elf_fields.h"
#include "elf/types/elf_passing.h"
#include "elf/types/elf_types.h"

enum { NESTING_MAX = 32 };

/* ---- the function ---- */

static bool find_function(Dwarf_Die *parent, uint64_t addr, unsigned int nesting, Dwarf_Die *ret_function)
{
	Dwarf_Die die;
	int more = nesting < NESTING_MAX ? dwarf_child(parent, &die) : 1;

	for (; !more; more = dwarf_siblingof(&die, &die)) {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (dwarf_haspc(&die, addr) == 1) {
				*ret_function = die;
				return true;
			}
			/* fall through */
		case DW_TAG_namespace:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_lexical_block:
			if (find_function(&die, addr, nesting + 1, ret_function))
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

bool elf_parameter_begin(struct elf_file *file, uint64_t addr, struct parameter_search *search)
{
	Dwarf_Die die, split;
	uint8_t unit_type;
	Dwarf_Off unit;

	if (!elf_unit_at(file, addr, &unit) || !dwarf_offdie(file->dwarf, unit, &die))
		return false;
	elf_inflate_locations(file);
	/*
	 * With -gsplit-dwarf the unit is in a file of its own, which libdw finds where
	 * the compiler has put it.
	 */
	if (!dwarf_cu_info(die.cu, NULL, &unit_type, NULL, &split, NULL, NULL, NULL) &&
	    unit_type == DW_UT_skeleton && split.addr)
		die = split;
	return find_function(&die, addr, 0, &search->die);
}

/* ---- the argument ---- */

static int fail_untold(const struct parameter_search *search, const char *why)
{
	if (search->name)
		return fail(-EINVAL,
			    "cannot tell which register holds '%s' of %s, since %s: arg0, arg1, ... are the "
			    "registers of arguments, whatever they hold",
			    search->name, search->function, why);
	return fail(-EINVAL,
		    "cannot tell which parameter of %s arg%u is, since %s: write *(int *)(arg%u + 8), for "
		    "instance",
		    search->function, search->nth, why, search->nth);
}

static bool is_c(Dwarf_Die *die)
{
	Dwarf_Die unit;
	int language = dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;

	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
	       language == DW_LANG_C11;
}

static Dwarf_Word convention_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word convention = 0;

	dwarf_formudata(dwarf_attr_integrate(die, DW_AT_calling_convention, &attribute), &convention);
	return convention;
}

/* Whether the first register holds where the result is to go. */
static int check_result(struct parameter_search *search, unsigned int *ret_taken)
{
	enum { IN_REGISTERS = 16, BY_REFERENCE = 4, BY_VALUE = 5 };
	Dwarf_Word size, convention;
	Dwarf_Die type;

	*ret_taken = 0;
	if (!elf_type_of(&search->die, &type) || !elf_type_is_aggregate(&type))
		return 0;
	convention = convention_of(&type);
	if (!elf_type_complete(&type) || dwarf_aggregate_size(&type, &size) ||
	    (!is_c(&search->die) && convention != BY_REFERENCE && convention != BY_VALUE))
		return fail_untold(search, "it returns a struct");
	*ret_taken = size > IN_REGISTERS || convention == BY_REFERENCE;
	return 0;
}

static bool is_go(Dwarf_Die *die)
{
	return elf_type_is_of(die, DW_LANG_Go);
}

static bool is_cxx(Dwarf_Die *die)
{
	return elf_type_is_of(die, DW_LANG_C_plus_plus) || elf_type_is_of(die, DW_LANG_C_plus_plus_03) ||
	       elf_type_is_of(die, DW_LANG_C_plus_plus_11) || elf_type_is_of(die, DW_LANG_C_plus_plus_14);
}

/* A string or a slice of Rust takes two registers. */
static bool is_rust_slice(Dwarf_Die *type)
{
	int8_t count_at;
	const char *path;
	bool is_text;

	return elf_type_is_of(type, DW_LANG_Rust) && elf_type_is_counted(type, &path, &count_at, &is_text);
}

static int registers_below(Dwarf_Die *type, uint64_t offset, unsigned int nesting);

/* Go passes each field of a struct as if it were an argument (https://go.dev/s/regabi). */
static int registers_of_fields(Dwarf_Die *type, uint64_t offset, unsigned int nesting)
{
	Dwarf_Die die, inner;
	int more = nesting < NESTING_MAX ? dwarf_child(type, &die) : -1, sum = 0;

	for (; !more; more = dwarf_siblingof(&die, &die)) {
		uint64_t at = 0;
		int own;

		if (dwarf_tag(&die) != DW_TAG_member || !elf_type_add_offset(&die, &at) ||
		    !elf_type_of(&die, &inner))
			return -1;
		own = at < offset ? registers_below(&inner, offset - at, nesting + 1) : 0;
		if (own < 0)
			return own;
		sum += own;
	}
	return more < 0 ? -1 : sum;
}

/*
 * How many registers for integers the fields take that begin below the offset, of another type the whole;
 * negative: there is no telling.
 */
static int registers_below(Dwarf_Die *type, uint64_t offset, unsigned int nesting)
{
	struct elf_field field = {0};

	if (elf_type_is_float(type))
		return 0;
	if (elf_type_is_aggregate(type) && is_go(type))
		return registers_of_fields(type, offset, nesting);
	if (is_rust_slice(type))
		return 2;
	return elf_type_classify(type, &field) && !field.is_array ? 1 : -1;
}

/* The compiled function's own entry for a parameter of the function as it was written. */
static bool find_compiled(struct parameter_search *search, Dwarf_Die *parameter, Dwarf_Die *ret_compiled)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die, origin;
	int more = dwarf_child(&search->die, &die);

	for (; !more; more = dwarf_siblingof(&die, &die)) {
		if (!dwarf_formref_die(dwarf_attr(&die, DW_AT_abstract_origin, &attribute), &origin))
			origin = die;
		if (dwarf_dieoffset(&origin) != dwarf_dieoffset(parameter))
			continue;
		*ret_compiled = die;
		return true;
	}
	return false;
}

/* How many operations tell of a place at the function's beginning; 0: none do. */
static size_t location_at_entry(struct parameter_search *search, Dwarf_Die *die, unsigned int attribute,
				Dwarf_Op **ret_ops)
{
	Dwarf_Attribute found;
	Dwarf_Addr entry;
	size_t cnt;

	return dwarf_attr(die, attribute, &found) && !dwarf_entrypc(&search->die, &entry) &&
			       dwarf_getlocation_addr(&found, entry, ret_ops, &cnt, 1) == 1
		       ? cnt
		       : 0;
}

/*
 * Whether C++ passes the address of the struct, which is then where the parameter is: behind that address.
 * The type says so with clang only. Negative: there is no telling.
 */
static int is_passed_by_address(struct parameter_search *search, Dwarf_Die *parameter, Dwarf_Die *type)
{
	enum { BY_REFERENCE = 4, BY_VALUE = 5 };
	Dwarf_Word convention = convention_of(type);
	Dwarf_Die compiled;
	Dwarf_Op *op;
	size_t cnt;

	if (convention == BY_REFERENCE || convention == BY_VALUE)
		return convention == BY_REFERENCE;
	cnt = find_compiled(search, parameter, &compiled)
		      ? location_at_entry(search, &compiled, DW_AT_location, &op)
		      : 0;
	if (!cnt)
		return -1;
	if (op->atom == DW_OP_fbreg && cnt <= 2)
		return cnt == 2 ? (op[1].atom == DW_OP_deref ? 1 : -1) : 0;
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return cnt == 1 && !op->number ? 1 : -1;
	return op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31 ? 0 : -1;
}

/*
 * The registers that the next parameter takes, of those behind the first `at` ones and *vectors. Negative:
 * there is no telling.
 */
static int take_registers(struct parameter_search *search, Dwarf_Die *parameter, Dwarf_Die *type,
			  unsigned int at, unsigned int *vectors)
{
	enum { VECTORS = 8 };
	struct elf_passing passing;
	int taken = registers_below(type, UINT64_MAX, 0), by_address = 0;
	Dwarf_Word size;

	search->is_address = false;
	search->stack_size = 0;
	if (taken >= 0) {
		bool is_float = elf_type_is_float(type), is_wide = elf_passing_is_wide(type);

		*vectors += is_float && !is_wide;
		if (is_float ? is_wide || *vectors > VECTORS : at >= ARCH_C_ARG_CNT)
			search->stack_size = is_wide ? 16 : 8;
		return taken;
	}
	if (elf_type_is_aggregate(type) && is_cxx(&search->die))
		by_address = is_passed_by_address(search, parameter, type);
	if (by_address < 0 || (!is_c(&search->die) && !is_cxx(&search->die)) ||
	    (!elf_type_is_aggregate(type) && dwarf_bytesize(type) != 16) ||
	    !elf_passing_of(type, by_address, &passing))
		return -1;
	search->is_address = passing.is_address;
	if (passing.in_memory || at + passing.integers > ARCH_C_ARG_CNT ||
	    *vectors + passing.vectors > VECTORS) {
		search->stack_size =
			passing.is_address || dwarf_aggregate_size(type, &size) ? 8 : (size + 7) & ~7ull;
		return 0;
	}
	*vectors += passing.vectors;
	return (int)passing.integers;
}

/*
 * Compilers that drop parameters of static functions (clang 14, for instance) do not all say so, but where
 * those that are left begin.
 */
static bool is_elsewhere(struct parameter_search *search, Dwarf_Die *parameter)
{
	Dwarf_Die compiled;
	Dwarf_Op *op;
	size_t cnt;

	if (search->nth >= ARCH_C_ARG_CNT || is_go(&search->die))
		return false;
	if (!find_compiled(search, parameter, &compiled) || !dwarf_hasattr(&compiled, DW_AT_location))
		return true; /* dropped itself, perhaps */
	cnt = location_at_entry(search, &compiled, DW_AT_location, &op);
	if (!cnt || (cnt > 1 && op[1].atom != DW_OP_piece))
		return false;
	return op->atom >= DW_OP_reg0 && op->atom < DW_OP_reg0 + ARCH_DWARF_CNT &&
	       arch_dwarf_registers[op->atom - DW_OP_reg0] != arch_c_args[search->nth];
}

Dwarf_Die elf_parameter_function(const struct parameter_search *search)
{
	Dwarf_Die compiled = search->die, function;
	Dwarf_Attribute attribute;

	return dwarf_formref_die(dwarf_attr(&compiled, DW_AT_abstract_origin, &attribute), &function)
		       ? function
		       : compiled;
}

bool elf_parameter_is_one(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	bool is_result;

	return dwarf_tag(die) == DW_TAG_formal_parameter &&
	       (dwarf_formflag(dwarf_attr_integrate(die, DW_AT_variable_parameter, &attribute), &is_result) ||
		!is_result);
}

bool elf_parameter_result(struct parameter_search *search, Dwarf_Die *ret_type)
{
	Dwarf_Die function = elf_parameter_function(search), die;
	int more = dwarf_child(&function, &die);

	if (elf_type_of(&search->die, ret_type))
		return true;
	for (; !more; more = dwarf_siblingof(&die, &die))
		if (dwarf_tag(&die) == DW_TAG_formal_parameter && !elf_parameter_is_one(&die))
			return elf_type_of(&die, ret_type);
	return false;
}

/*
 * Where the compiler says that the parameter is at the function's beginning, in bytes above the return
 * address. Negative: it does not say, because it has copied the parameter, for instance.
 */
static int64_t told_on_stack(struct parameter_search *search, Dwarf_Die *compiled)
{
	enum { ABOVE_FRAME = 16 /* rbp points to the caller's, which is below the return address */ };
	Dwarf_Op *op, *base;

	if (location_at_entry(search, compiled, DW_AT_location, &op) != 1 || op->atom != DW_OP_fbreg ||
	    location_at_entry(search, &search->die, DW_AT_frame_base, &base) != 1)
		return -1;
	if (base->atom == DW_OP_call_frame_cfa)
		return (int64_t)op->number;
	return base->atom == DW_OP_reg6 ? (int64_t)op->number - ABOVE_FRAME : -1;
}

/* Compilers may change the parameters of functions that other files cannot call. */
static int check_on_stack(struct parameter_search *search, Dwarf_Die *parameter, uint64_t stack)
{
	Dwarf_Attribute attribute;
	bool is_external = false;
	Dwarf_Die compiled;
	int64_t told;

	if (search->is_address)
		return fail_untold(search, "the address of a copy of it is on the stack");
	dwarf_formflag(dwarf_attr_integrate(&search->die, DW_AT_external, &attribute), &is_external);
	told = find_compiled(search, parameter, &compiled) ? told_on_stack(search, &compiled) : -1;
	if (told >= 0 ? (uint64_t)told != stack : !is_external)
		return fail_untold(search, "the compiler has changed its parameters");
	search->nth = ELF_ON_STACK + (unsigned int)stack;
	search->is_address = true;
	return 0;
}

/* `parameter` is the wanted one and takes so many registers, from `at` on. */
static int check_found(struct parameter_search *search, Dwarf_Die *parameter, unsigned int at,
		       unsigned int taken, Dwarf_Die *type)
{
	if (search->name)
		search->nth = at;
	if (!taken && elf_type_is_float(type))
		return fail(-EINVAL,
			    "'%s' of %s is a floating-point number in a vector register, which cannot be "
			    "read",
			    search->name, search->function);
	if (is_elsewhere(search, parameter))
		return fail_untold(search, "the compiler has changed its parameters");
	if (search->is_address)
		return 0;
	search->is_split = elf_type_is_aggregate(type);
	if (search->is_split ? search->nth != at || !taken : taken != 1)
		return fail_untold(search, "it is a struct or a part of one");
	return 0;
}

bool elf_parameter_part(const struct parameter_search *search, Dwarf_Die *type, uint64_t offset,
			uint8_t *ret_skip, uint8_t *ret_shift)
{
	Dwarf_Die function = search->die;
	bool is_go_struct = is_go(&function);
	int skip = is_go_struct		 ? registers_below(type, offset, 0)
		   : is_rust_slice(type) ? (int)(offset / 8)
					 : elf_passing_register(type, offset);

	*ret_skip = (uint8_t)skip;
	*ret_shift = is_go_struct ? 0 : (uint8_t)(offset % 8 * 8);
	return skip >= 0;
}

int elf_parameter_find(struct parameter_search *search, Dwarf_Die *ret_type)
{
	Dwarf_Die function = elf_parameter_function(search), parameter;
	unsigned int at, vectors = 0;
	bool by_stack = elf_is_on_stack(search->nth);
	uint64_t stack = 0;
	int more, taken, err;

	err = check_result(search, &at);
	if (err)
		return err;
	if (convention_of(&search->die) == DW_CC_nocall)
		return fail_untold(search, "the compiler has changed its parameters");
	for (more = dwarf_child(&function, &parameter); !more;
	     more = dwarf_siblingof(&parameter, &parameter)) {
		if (!elf_parameter_is_one(&parameter))
			continue;
		if (!elf_type_of(&parameter, ret_type))
			return fail_untold(search, "the debug information is not complete");
		taken = take_registers(search, &parameter, ret_type, at, &vectors);
		search->has_floats |= elf_type_is_float(ret_type);
		if (!is_c(&search->die) && !is_cxx(&search->die))
			search->stack_size = 0;
		if (taken < 0)
			return fail_untold(search, "a struct or the like is passed by value there or before");
		if (is_go(&search->die) && at + (unsigned int)taken > ARCH_GO_ARG_CNT)
			return fail_untold(search, "there are too few registers for it or one before it");
		if (search->stack_size && elf_passing_is_wide(ret_type))
			stack = (stack + 15) & ~15ull;
		if (search->stack_size && (search->name ? elf_type_has_name(&parameter, search->name)
							: by_stack && ELF_ON_STACK + stack == search->nth))
			return check_on_stack(search, &parameter, stack);
		stack += search->stack_size;
		if (search->name ? elf_type_has_name(&parameter, search->name)
				 : search->nth >= at && search->nth < at + (unsigned int)taken)
			return check_found(search, &parameter, at, (unsigned int)taken, ret_type);
		at += (unsigned int)taken;
	}
	return fail(-ENOENT, "%s has no arg%u by its debug information%s", search->function, search->nth,
		    search->has_floats
			    ? ": floating-point parameters are in vector registers, which cannot be "
			      "read; arg0 is its first integer or pointer"
			    : "");
}
