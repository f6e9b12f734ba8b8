/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PLT entry is an indirect jump through a GOT slot, and the relocation of that slot has the name:
 *
 *	.plt, .plt.sec, .plt.got	[endbr64] [bnd] jmp *slot(%rip)
 *	.rela.plt, .rela.dyn		slot: R_X86_64_JUMP_SLOT puts	->  "puts@plt"
 *
 * All linkers align entries to 8 bytes, so jumps are searched only there. In a static executable, slots of
 * IFUNCs (memcpy) have a resolver's address instead of a name; the symbol there names it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/bisect.h"
#include "base/sort.h"
#include "elf/elf_internal.h"

struct slot {
	uint64_t addr; /* first: sorted by it */
	const char *name;
};

struct slot_list {
	struct slot *items;
	size_t cnt, cap;
};

static void slots_release(struct slot_list *slots)
{
	free(slots->items);
}

/* ---- slots ---- */

/* The first symbol at addr, or NULL. */
static const char *name_at(const struct elf_file *file, uint64_t addr)
{
	size_t low = BISECT(file->symbol_cnt, i, file->symbols[i].addr < addr);

	return low < file->symbol_cnt && file->symbols[low].addr == addr ? file->symbols[low].name : NULL;
}

/* The name a relocation gives to its slot, or NULL. `symbols` (of section `symtab`) may be NULL. */
static const char *slot_name(const struct elf_file *file, const GElf_Rela *rela, Elf_Data *symbols,
			     Elf_Scn *symtab)
{
	uint64_t type = GELF_R_TYPE(rela->r_info);
	GElf_Shdr header;
	GElf_Sym sym;

	if (type == ARCH_RELOC_IRELATIVE)
		return name_at(file, (uint64_t)rela->r_addend);
	if ((type != ARCH_RELOC_JUMP_SLOT && type != ARCH_RELOC_GLOB_DAT) || !symbols ||
	    GELF_R_SYM(rela->r_info) > INT32_MAX ||
	    !gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym) || !gelf_getshdr(symtab, &header))
		return NULL;
	return elf_strptr(file->elf, header.sh_link, sym.st_name);
}

static int add_slots(const struct elf_file *file, Elf_Scn *section, const GElf_Shdr *header,
		     struct slot_list *slots)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Scn *symtab = header->sh_link ? elf_getscn(file->elf, header->sh_link) : NULL;
	Elf_Data *symbols = symtab ? elf_getdata(symtab, NULL) : NULL;
	size_t cnt = data ? data->d_size / sizeof(Elf64_Rela) : 0;

	for (size_t i = 0; i < cnt && i < INT32_MAX; i++) {
		struct slot slot;
		GElf_Rela rela;

		if (!gelf_getrela(data, (int)i, &rela))
			continue;
		slot = (struct slot){rela.r_offset, slot_name(file, &rela, symbols, symtab)};
		if (slot.name && slot.name[0] && ARRAY_PUSH(slots->items, slots->cnt, slots->cap, slot))
			return -ENOMEM;
	}
	return 0;
}

static int read_slots(const struct elf_file *file, struct slot_list *slots)
{
	int err = 0;

	for (Elf_Scn *section = NULL; !err && (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
			err = add_slots(file, section, &header, slots);
	}
	sort_array(slots->items, slots->cnt, sizeof(*slots->items), sort_by_number);
	return err;
}

/* ---- entries ---- */

/* Length of the jump at `code`, with its slot's displacement from its end; 0 where there is none. */
static size_t decode_entry(const uint8_t *code, size_t size, int32_t *ret_displacement)
{
	size_t at = arch_is_landing_mark(code, size) ? ARCH_LANDING_MARK_SIZE : 0;

	if (at < size && code[at] == 0xf2)
		at++;
	if (at + 6 > size || code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	memcpy(ret_displacement, code + at + 2, sizeof(*ret_displacement));
	return at + 6;
}

static int add_entry(struct elf_file *file, uint64_t addr, uint64_t size, const char *name)
{
	struct elf_symbol symbol = {.addr = addr,
				    .size = size,
				    .type = STT_FUNC,
				    .bind = STB_LOCAL,
				    .is_default = 1,
				    .is_plt = 1};
	char *text;

	if (asprintf(&text, "%s@plt", name) < 0)
		return -ENOMEM;
	symbol.name = elf_keep_name(file, text);
	return symbol.name ? ARRAY_PUSH(file->symbols, file->symbol_cnt, file->symbol_cap, symbol) : -ENOMEM;
}

static int add_entries(struct elf_file *file, const GElf_Shdr *header, const Elf_Data *code,
		       const struct slot_list *slots)
{
	uint64_t entry_size = header->sh_entsize == 8 ? 8 : 16;

	for (size_t at = 0; at < code->d_size; at += 8) {
		struct slot key;
		const struct slot *slot;
		int32_t displacement;
		size_t left = code->d_size - at;
		size_t len = decode_entry((const uint8_t *)code->d_buf + at, left, &displacement);

		if (!len)
			continue;
		key.addr = header->sh_addr + at + len + (uint64_t)(int64_t)displacement;
		slot = slots->cnt ? bsearch(&key, slots->items, slots->cnt, sizeof(key), sort_by_number)
				  : NULL;
		if (slot &&
		    add_entry(file, header->sh_addr + at, left < entry_size ? left : entry_size, slot->name))
			return -ENOMEM;
	}
	return 0;
}

int elf_plt_add(struct elf_file *file)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	CLEANUP(slots_release) struct slot_list slots = {0};
	int err = read_slots(file, &slots);

	for (size_t i = 0; i < ARRAY_SIZE(sections) && !err && slots.cnt; i++) {
		GElf_Shdr header;
		Elf_Scn *section = elf_section(file->elf, sections[i], &header);
		Elf_Data *code = section ? elf_rawdata(section, NULL) : NULL;

		if (code && code->d_buf)
			err = add_entries(file, &header, code, &slots);
	}
	return err;
}
