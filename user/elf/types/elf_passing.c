/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A struct of up to 16 bytes is two halves, each in a register for integers if something in it is no
 * floating-point number, else in a vector register. A larger one, and one with unaligned members, is on the
 * stack. C++ passes the address of what has a constructor or destructor of its own.
 */
#include "elf/types/elf_passing.h"

#include <dwarf.h>

#include "elf/types/elf_types.h"

enum { NESTING_MAX = 32, HALF = 8, HALVES = 2 };

enum half { HALF_EMPTY, HALF_VECTOR, HALF_INTEGER };

struct halves {
	enum half halves[HALVES];
	bool on_stack;
};

static void mark(struct halves *halves, uint64_t offset, uint64_t size, enum half half)
{
	for (uint64_t at = offset; at < offset + size && at / HALF < HALVES; at += HALF)
		if (halves->halves[at / HALF] < half)
			halves->halves[at / HALF] = half;
}

static bool classify(Dwarf_Die *type, uint64_t offset, unsigned int nesting, struct halves *halves);

static bool classify_members(Dwarf_Die *type, uint64_t offset, unsigned int nesting, struct halves *halves)
{
	Dwarf_Attribute attribute;
	Dwarf_Die die, inner;
	int more = dwarf_child(type, &die);
	Dwarf_Word bit;

	for (; !more; more = dwarf_siblingof(&die, &die)) {
		uint64_t at = offset;

		if (dwarf_tag(&die) != DW_TAG_member && dwarf_tag(&die) != DW_TAG_inheritance)
			continue;
		if (!dwarf_formudata(dwarf_attr(&die, DW_AT_data_bit_offset, &attribute), &bit))
			mark(halves, offset + bit / 8, 1, HALF_INTEGER);
		else if (dwarf_hasattr(&die, DW_AT_bit_size))
			return false;
		else if (elf_type_add_offset(&die, &at) &&
			 (!elf_type_of(&die, &inner) || !classify(&inner, at, nesting + 1, halves)))
			return false;
	}
	return more == 1;
}

static bool classify_array(Dwarf_Die *type, uint64_t offset, unsigned int nesting, struct halves *halves)
{
	Dwarf_Word bytes, size;
	Dwarf_Die element;

	if (dwarf_aggregate_size(type, &bytes) || !elf_type_of(type, &element) ||
	    dwarf_aggregate_size(&element, &size) || !size)
		return false;
	for (uint64_t at = 0; at < bytes && at < HALVES * HALF; at += size)
		if (!classify(&element, offset + at, nesting + 1, halves))
			return false;
	return true;
}

static bool classify(Dwarf_Die *type, uint64_t offset, unsigned int nesting, struct halves *halves)
{
	Dwarf_Word size;

	if (nesting > NESTING_MAX)
		return false;
	if (elf_type_is_aggregate(type))
		return elf_type_complete(type) && classify_members(type, offset, nesting, halves);
	if (dwarf_tag(type) == DW_TAG_array_type)
		return classify_array(type, offset, nesting, halves);
	if (dwarf_aggregate_size(type, &size) || !size)
		return false;
	/* long double is on the stack, and the larger numbers are seldom. */
	if (elf_type_is_float(type) && size > HALF)
		return false;
	halves->on_stack |= size <= HALF && offset % size;
	mark(halves, offset, size, elf_type_is_float(type) ? HALF_VECTOR : HALF_INTEGER);
	return true;
}

bool elf_passing_of(Dwarf_Die *type, bool is_address, struct elf_passing *ret_passing)
{
	struct halves halves = {0};
	Dwarf_Word size;

	*ret_passing = (struct elf_passing){.integers = is_address, .is_address = is_address};
	if (is_address)
		return true;
	if ((elf_type_is_aggregate(type) && !elf_type_complete(type)) || dwarf_aggregate_size(type, &size))
		return false;
	ret_passing->in_memory = size > HALVES * HALF;
	if (ret_passing->in_memory)
		return true;
	if (!classify(type, 0, 0, &halves))
		return false;
	ret_passing->in_memory = halves.on_stack;
	for (int i = 0; i < HALVES && !halves.on_stack; i++) {
		ret_passing->integers += halves.halves[i] == HALF_INTEGER;
		ret_passing->vectors += halves.halves[i] == HALF_VECTOR;
	}
	return true;
}

static int is_wide(void *ctx, Dwarf_Die *member)
{
	Dwarf_Die type;

	(void)ctx;
	return elf_type_of(member, &type) && elf_passing_is_wide(&type);
}

bool elf_passing_is_wide(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word size, alignment = 0;
	Dwarf_Die element;

	if (dwarf_tag(type) == DW_TAG_array_type)
		return elf_type_of(type, &element) && elf_passing_is_wide(&element);
	if (elf_type_is_aggregate(type)) {
		dwarf_formudata(dwarf_attr(type, DW_AT_alignment, &attribute), &alignment);
		return alignment > HALF ||
		       (elf_type_complete(type) && elf_type_each_member(type, is_wide, NULL));
	}
	return !dwarf_aggregate_size(type, &size) && size > HALF;
}

int elf_passing_register(Dwarf_Die *type, uint64_t offset)
{
	struct halves halves = {0};

	if (offset >= HALVES * HALF || !elf_type_complete(type) || !classify(type, 0, 0, &halves) ||
	    halves.halves[offset / HALF] != HALF_INTEGER)
		return -1;
	return offset >= HALF && halves.halves[0] == HALF_INTEGER;
}
