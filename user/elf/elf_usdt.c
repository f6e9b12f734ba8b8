/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statically defined probes (USDT), described by notes of type 3 in .note.stapsdt
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation): three addresses, of the probe, of
 * .stapsdt.base when the note was written, and of the semaphore; then provider, name and arguments, each with
 * a 0 behind it. Where the file was prelinked since, the section has moved, and the addresses with it.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "elf/elf_internal.h"

enum { NT_STAPSDT = 3 };

static const char *take_text(const char **at, const char *end)
{
	const char *text = *at, *stop = memchr(text, 0, (size_t)(end - text));

	if (!stop)
		return NULL;
	*at = stop + 1;
	return text;
}

static int add_note(struct elf_usdt_list *list, const uint8_t *desc, size_t size, uint64_t moved_base)
{
	uint64_t addrs[3];
	const char *at = (const char *)desc + sizeof(addrs), *end = (const char *)desc + size;
	struct elf_usdt usdt = {0};

	if (size < sizeof(addrs))
		return 0;
	memcpy(addrs, desc, sizeof(addrs));
	usdt.addr = moved_base ? addrs[0] + (moved_base - addrs[1]) : addrs[0];
	usdt.semaphore = addrs[2] && moved_base ? addrs[2] + (moved_base - addrs[1]) : addrs[2];
	usdt.provider = take_text(&at, end);
	usdt.name = usdt.provider ? take_text(&at, end) : NULL;
	usdt.args = usdt.name ? take_text(&at, end) : NULL;
	return usdt.args ? ARRAY_PUSH(list->items, list->cnt, list->cap, usdt) : 0;
}

int elf_file_usdts(const struct elf_file *file, struct elf_usdt_list *list)
{
	GElf_Shdr header, base = {0};
	Elf_Scn *section = elf_section(file->elf, ".note.stapsdt", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t name_at, desc_at, at = 0;
	GElf_Nhdr note;
	int err = 0;

	elf_section(file->elf, ".stapsdt.base", &base);
	while (data && !err && (at = gelf_getnote(data, at, &note, &name_at, &desc_at)))
		if (note.n_type == NT_STAPSDT)
			err = add_note(list, (const uint8_t *)data->d_buf + desc_at, note.n_descsz,
				       base.sh_addr);
	return err;
}

/* ---- variables, which their arguments name ---- */

/* By its name, or NULL; else by an address in it. */
struct wanted {
	const char *name;
	uint64_t addr;
};

static bool is_data(Elf *elf, const GElf_Shdr *header, const GElf_Sym *sym, const struct wanted *wanted)
{
	const char *its_name;

	if (sym->st_shndx == SHN_UNDEF || GELF_ST_TYPE(sym->st_info) == STT_TLS)
		return false;
	if (!wanted->name)
		return GELF_ST_TYPE(sym->st_info) == STT_OBJECT &&
		       wanted->addr - sym->st_value < sym->st_size;
	its_name = elf_strptr(elf, header->sh_link, sym->st_name);
	return its_name && !strcmp(its_name, wanted->name);
}

static int find_in_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct wanted *wanted)
{
	Elf_Data *symbols = elf_getdata(section, NULL);
	size_t cnt = symbols ? symbols->d_size / sizeof(Elf64_Sym) : 0;

	for (size_t i = 1; i < cnt && i < INT32_MAX; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(symbols, (int)i, &sym) || !is_data(elf, header, &sym, wanted))
			continue;
		*wanted = (struct wanted){.name = elf_strptr(elf, header->sh_link, sym.st_name),
					  .addr = sym.st_value};
		return 0;
	}
	return -ENOENT;
}

static int find_data(const struct elf_file *file, struct wanted *wanted)
{
	int err = -ENOENT;

	for (Elf_Scn *section = NULL; err && (section = elf_nextscn(file->elf, section));) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			err = find_in_table(file->elf, section, &header, wanted);
	}
	return err;
}

int elf_file_find_data(const struct elf_file *file, const char *name, uint64_t *ret_addr)
{
	struct wanted wanted = {.name = name};
	int err = find_data(file, &wanted);

	if (!err)
		*ret_addr = wanted.addr;
	return err;
}

const char *elf_file_data_at(const struct elf_file *file, uint64_t addr)
{
	struct wanted wanted = {.addr = addr};
	size_t cnt = 0;
	bool is_loaded = false;
	GElf_Phdr part;

	elf_getphdrnum(file->elf, &cnt);
	for (size_t i = 0; i < cnt && !is_loaded; i++)
		is_loaded = gelf_getphdr(file->elf, (int)i, &part) && part.p_type == PT_LOAD &&
			    addr - part.p_vaddr < part.p_memsz;
	return is_loaded && !find_data(file, &wanted) ? wanted.name : NULL;
}
