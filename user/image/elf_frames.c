/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stripped files still say where functions begin, for exceptions and backtraces: .eh_frame_hdr has a sorted
 * table of them (Linux Standard Base, "Exception Frames"). All linkers write it the same way:
 *
 *	u8 version = 1, frame_enc, count_enc = udata4, table_enc = datarel|sdata4
 *	i32 eh_frame
 *	u32 count
 *	{ i32 function, i32 description; } [count]	relative to the section's address
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "image/elf_internal.h"

struct frame_header {
	uint8_t version, frame_enc, count_enc, table_enc;
	int32_t eh_frame;
	uint32_t count;
};

enum { ENC_UDATA4 = 0x03, ENC_DATAREL_SDATA4 = 0x3b };

static Elf_Data *frame_table(const struct elf_file *file, GElf_Phdr *ret_segment)
{
	size_t cnt = 0;

	elf_getphdrnum(file->elf, &cnt);
	for (size_t i = 0; i < cnt; i++)
		if (gelf_getphdr(file->elf, (int)i, ret_segment) && ret_segment->p_type == PT_GNU_EH_FRAME)
			return elf_getdata_rawchunk(file->elf, (int64_t)ret_segment->p_offset,
						    ret_segment->p_filesz, ELF_T_BYTE);
	return NULL;
}

int elf_frame_starts(const struct elf_file *file, uint64_t **ret_addrs, size_t *ret_cnt)
{
	GElf_Phdr segment;
	const Elf_Data *data = frame_table(file, &segment);
	const uint8_t *table = data ? data->d_buf : NULL;
	struct frame_header header;
	uint64_t *addrs;

	*ret_addrs = NULL;
	*ret_cnt = 0;
	if (!table || data->d_size < sizeof(header))
		return 0;
	memcpy(&header, table, sizeof(header));
	if (header.version != 1 || header.count_enc != ENC_UDATA4 || header.table_enc != ENC_DATAREL_SDATA4 ||
	    header.count > (data->d_size - sizeof(header)) / 8)
		return 0;
	addrs = calloc(header.count + 1ul, sizeof(*addrs));
	if (!addrs)
		return -ENOMEM;
	for (uint32_t i = 0; i < header.count; i++) {
		int32_t function;

		memcpy(&function, table + sizeof(header) + i * 8ul, sizeof(function));
		addrs[i] = segment.p_vaddr + (uint64_t)(int64_t)function;
	}
	sort_array(addrs, header.count, sizeof(*addrs), elf_compare_addrs);
	*ret_addrs = addrs;
	*ret_cnt = header.count;
	return 0;
}
