/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug information is mostly compressed (SHF_COMPRESSED). libelf would inflate it with zlib, which takes
 * twice as long as ISA-L. So it is inflated here, all sections side by side, before libdw asks for it. The
 * lists of where variables are, a sixth of it, get their memory only: few ask for them.
 */

#include <isa-l/igzip_lib.h>
#include <string.h>

#include "base/array.h"
#include "base/parallel.h"
#include "elf/elf_internal.h"

struct part {
	Elf_Scn *section;
	Elf_Data *data; /* as it is in the file */
	GElf_Chdr header;
	bool is_late;
	struct elf_inflated inflated; /* bytes NULL: it cannot be inflated */
};

struct part_list {
	struct part *items;
	size_t cnt, cap;
};

/* All of the bytes, with the right checksum. */
static bool inflate_bytes(const struct elf_inflated *inflated)
{
	CLEANUP(freep) struct inflate_state *state = malloc(sizeof(*state));

	if (!state)
		return false;
	isal_inflate_init(state);
	state->crc_flag = ISAL_ZLIB;
	state->next_in = (uint8_t *)inflated->from + sizeof(Elf64_Chdr);
	state->avail_in = (uint32_t)(inflated->from_size - sizeof(Elf64_Chdr));
	state->next_out = inflated->bytes;
	state->avail_out = (uint32_t)inflated->size;
	return isal_inflate(state) == ISAL_DECOMP_OK && state->block_state == ISAL_BLOCK_FINISH &&
	       !state->avail_out;
}

static int inflate_part(void *ctx, size_t i)
{
	const struct part_list *parts = ctx;
	struct elf_inflated *inflated = &parts->items[i].inflated;

	if (parts->items[i].is_late) {
		inflated->bytes = calloc(1, inflated->size);
		return 0;
	}
	inflated->bytes = malloc(inflated->size);
	if (inflated->bytes && !inflate_bytes(inflated)) {
		free(inflated->bytes);
		inflated->bytes = NULL;
	}
	inflated->from = NULL;
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
		views[i]->d_buf = part->inflated.bytes;
		views[i]->d_size = part->header.ch_size;
	}
}

static bool is_late(const char *name)
{
	return name && (!strcmp(name, ".debug_loclists") || !strcmp(name, ".debug_loc"));
}

static bool read_part(Elf *elf, Elf_Scn *section, struct part *ret_part)
{
	const GElf_Chdr *packed = &ret_part->header;
	GElf_Shdr header;
	Elf_Data *data;
	size_t names;

	*ret_part = (struct part){.section = section};
	if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_COMPRESSED))
		return false;
	ret_part->is_late =
		!elf_getshdrstrndx(elf, &names) && is_late(elf_strptr(elf, names, header.sh_name));
	ret_part->data = data = elf_rawdata(section, NULL);
	if (!data || data->d_size < sizeof(Elf64_Chdr) || data->d_size > UINT32_MAX ||
	    !gelf_getchdr(section, &ret_part->header) || packed->ch_type != ELFCOMPRESS_ZLIB ||
	    !packed->ch_size || packed->ch_size > UINT32_MAX)
		return false;
	ret_part->inflated = (struct elf_inflated){
		.size = packed->ch_size, .from = data->d_buf, .from_size = data->d_size};
	return true;
}

static int keep(struct elf_file *file, const struct elf_inflated *inflated)
{
	int err = ARRAY_PUSH(file->inflated, file->inflated_cnt, file->inflated_cap, *inflated);

	if (err)
		free(inflated->bytes);
	return err;
}

void elf_inflate(struct elf_file *file, Elf *elf)
{
	struct part_list parts = {0};
	struct part part;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
		if (read_part(elf, section, &part) && ARRAY_PUSH(parts.items, parts.cnt, parts.cap, part))
			break;
	parallel_for(parts.cnt, 0, inflate_part, &parts);
	for (size_t i = 0; i < parts.cnt; i++)
		if (parts.items[i].inflated.bytes && !keep(file, &parts.items[i].inflated))
			replace(&parts.items[i]);
	free(parts.items);
}

/* Damaged ones are empty. */
void elf_inflate_locations(struct elf_file *file)
{
	for (size_t i = 0; i < file->inflated_cnt; i++) {
		struct elf_inflated *inflated = &file->inflated[i];

		if (inflated->from && !inflate_bytes(inflated))
			memset(inflated->bytes, 0, inflated->size);
		inflated->from = NULL;
	}
}

void elf_inflate_release(struct elf_file *file)
{
	for (size_t i = 0; i < file->inflated_cnt; i++)
		free(file->inflated[i].bytes);
	free(file->inflated);
}
