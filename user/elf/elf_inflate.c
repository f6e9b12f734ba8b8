/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug information is mostly compressed (SHF_COMPRESSED). libelf would inflate it with zlib, which takes
 * twice as long as ISA-L. So it is inflated here, all sections side by side, before libdw asks for it.
 */

#include <isa-l/igzip_lib.h>

#include "base/array.h"
#include "base/parallel.h"
#include "elf/elf_internal.h"

struct part {
	Elf_Scn *section;
	Elf_Data *data; /* as it is in the file */
	GElf_Chdr header;
	uint8_t *bytes; /* NULL: it cannot be inflated */
};

struct part_list {
	struct part *items;
	size_t cnt, cap;
};

/* All of `size` bytes, with the right checksum. */
static bool inflate_bytes(const Elf_Data *data, uint8_t *bytes, size_t size)
{
	CLEANUP(freep) struct inflate_state *state = malloc(sizeof(*state));

	if (!state)
		return false;
	isal_inflate_init(state);
	state->crc_flag = ISAL_ZLIB;
	state->next_in = (uint8_t *)data->d_buf + sizeof(Elf64_Chdr);
	state->avail_in = (uint32_t)(data->d_size - sizeof(Elf64_Chdr));
	state->next_out = bytes;
	state->avail_out = (uint32_t)size;
	return isal_inflate(state) == ISAL_DECOMP_OK && state->block_state == ISAL_BLOCK_FINISH &&
	       !state->avail_out;
}

static int inflate_part(void *ctx, size_t i)
{
	const struct part_list *parts = ctx;
	struct part *part = &parts->items[i];
	uint8_t *bytes = malloc(part->header.ch_size);

	if (bytes && inflate_bytes(part->data, bytes, part->header.ch_size))
		part->bytes = bytes;
	else
		free(bytes);
	return 0;
}

/* libelf has two views of a section. Both show the bytes in place of the compressed ones. */
static void replace(const struct part *part)
{
	Elf_Data *views[] = {part->data, elf_getdata(part->section, NULL)};
	GElf_Shdr header;

	if (!views[1] || !gelf_getshdr(part->section, &header))
		return;
	header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header.sh_size = part->header.ch_size;
	header.sh_addralign = part->header.ch_addralign;
	if (!gelf_update_shdr(part->section, &header))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		views[i]->d_buf = part->bytes;
		views[i]->d_size = part->header.ch_size;
	}
}

static bool read_part(Elf_Scn *section, struct part *ret_part)
{
	GElf_Shdr header;

	*ret_part = (struct part){.section = section};
	if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_COMPRESSED))
		return false;
	ret_part->data = elf_rawdata(section, NULL);
	return ret_part->data && ret_part->data->d_size >= sizeof(Elf64_Chdr) &&
	       ret_part->data->d_size <= UINT32_MAX && gelf_getchdr(section, &ret_part->header) &&
	       ret_part->header.ch_type == ELFCOMPRESS_ZLIB && ret_part->header.ch_size &&
	       ret_part->header.ch_size <= UINT32_MAX;
}

void elf_inflate(struct elf_file *file, Elf *elf)
{
	struct part_list parts = {0};
	struct part part;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
		if (read_part(section, &part) && ARRAY_PUSH(parts.items, parts.cnt, parts.cap, part))
			break;
	parallel_for(parts.cnt, 0, inflate_part, &parts);
	for (size_t i = 0; i < parts.cnt; i++)
		if (parts.items[i].bytes &&
		    !ARRAY_TAKE(file->inflated, file->inflated_cnt, file->inflated_cap, parts.items[i].bytes))
			replace(&parts.items[i]);
	free(parts.items);
}

void elf_inflate_release(struct elf_file *file)
{
	for (size_t i = 0; i < file->inflated_cnt; i++)
		free(file->inflated[i]);
	free(file->inflated);
}
