/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statically defined probes (USDT), described by notes of type 3 in .note.stapsdt
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation): three addresses, of the probe, of .stapsdt.base when the note was
 * written, and of the semaphore; then provider, name and arguments, each with a 0 behind it. Where the file was prelinked since, the section has
 * moved, and the addresses with it.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "image/elf_internal.h"

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
