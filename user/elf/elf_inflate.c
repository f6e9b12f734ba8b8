/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug information is mostly compressed (SHF_COMPRESSED). libelf would inflate it with zlib, which takes
 * twice as long as ISA-L. So it is inflated here, before libdw asks for it.
 */
#include <string.h>

#include <isa-l/igzip_lib.h>

#include "base/array.h"
#include "elf/elf_internal.h"

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

/* libelf has two views of a section. Both show the bytes in place of the compressed ones. */
static void replace(Elf_Scn *section, uint8_t *bytes, const GElf_Chdr *compressed)
{
	Elf_Data *views[] = {elf_rawdata(section, NULL), elf_getdata(section, NULL)};
	GElf_Shdr header;

	if (!views[1] || !gelf_getshdr(section, &header))
		return;
	header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header.sh_size = compressed->ch_size;
	header.sh_addralign = compressed->ch_addralign;
	if (!gelf_update_shdr(section, &header))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		views[i]->d_buf = bytes;
		views[i]->d_size = compressed->ch_size;
	}
}

static void inflate_section(struct elf_file *file, Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	GElf_Chdr header;
	uint8_t *bytes;

	if (!data || data->d_size < sizeof(Elf64_Chdr) || data->d_size > UINT32_MAX ||
	    !gelf_getchdr(section, &header) || header.ch_type != ELFCOMPRESS_ZLIB || !header.ch_size ||
	    header.ch_size > UINT32_MAX)
		return;
	bytes = malloc(header.ch_size);
	if (bytes && !inflate_bytes(data, bytes, header.ch_size)) {
		free(bytes);
		return;
	}
	if (!ARRAY_TAKE(file->inflated, file->inflated_cnt, file->inflated_cap, bytes))
		replace(section, bytes, &header);
}

void elf_inflate(struct elf_file *file, Elf *elf)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_COMPRESSED)
			inflate_section(file, section);
	}
}

void elf_inflate_release(struct elf_file *file)
{
	for (size_t i = 0; i < file->inflated_cnt; i++)
		free(file->inflated[i]);
	free(file->inflated);
}
