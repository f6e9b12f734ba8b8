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

#include "base/bisect.h"
#include "base/sort.h"
#include "elf/elf_internal.h"

struct frame_header {
	uint8_t version, frame_enc, count_enc, table_enc;
	int32_t eh_frame;
	uint32_t count;
};

enum { ENC_UDATA4 = 0x03, ENC_DATAREL_SDATA4 = 0x3b, ENTRY_BYTES = 8 };

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

/* The entries of the table; NULL where there is none that can be read. */
static const uint8_t *frame_entries(const struct elf_file *file, uint64_t *ret_base, size_t *ret_cnt)
{
	GElf_Phdr segment;
	const Elf_Data *data = frame_table(file, &segment);
	const uint8_t *table = data ? data->d_buf : NULL;
	struct frame_header header;

	if (!table || data->d_size < sizeof(header))
		return NULL;
	memcpy(&header, table, sizeof(header));
	if (header.version != 1 || header.count_enc != ENC_UDATA4 || header.table_enc != ENC_DATAREL_SDATA4 ||
	    header.count > (data->d_size - sizeof(header)) / ENTRY_BYTES)
		return NULL;
	*ret_base = segment.p_vaddr;
	*ret_cnt = header.count;
	return table + sizeof(header);
}

/* entry[0] of function i, entry[1] of its description. */
static uint64_t entry_addr(const uint8_t *entries, uint64_t base, size_t i, int which)
{
	int32_t offset;

	memcpy(&offset, entries + i * ENTRY_BYTES + 4 * (size_t)which, sizeof(offset));
	return base + (uint64_t)(int64_t)offset;
}

int elf_frame_starts(const struct elf_file *file, uint64_t **ret_addrs, size_t *ret_cnt)
{
	uint64_t *addrs, base;
	size_t cnt;
	const uint8_t *entries = frame_entries(file, &base, &cnt);

	*ret_addrs = NULL;
	*ret_cnt = 0;
	if (!entries)
		return 0;
	addrs = calloc(cnt + 1, sizeof(*addrs));
	if (!addrs)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		addrs[i] = entry_addr(entries, base, i, 0);
	sort_array(addrs, cnt, sizeof(*addrs), sort_by_number);
	*ret_addrs = addrs;
	*ret_cnt = cnt;
	return 0;
}

/*
 * u32 length, u32 back to the CIE, then the function and its size. How these two are written the CIE says,
 * but everybody writes the function as 32 bits relative to themselves, and whether that is so here shows: it
 * must give the function that the table has.
 */
static bool read_size(const struct elf_file *file, uint64_t description, uint64_t function,
		      uint32_t *ret_size)
{
	enum { FUNCTION_AT = 8 };
	struct {
		int32_t function;
		uint32_t size;
	} fields;
	size_t size;
	const uint8_t *bytes = elf_bytes_at(file, description + FUNCTION_AT, &size);

	if (!bytes || size < sizeof(fields))
		return false;
	memcpy(&fields, bytes, sizeof(fields));
	if (description + FUNCTION_AT + (uint64_t)(int64_t)fields.function != function)
		return false;
	*ret_size = fields.size;
	return true;
}

int elf_frame_extent(const struct elf_file *file, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t base, start;
	size_t cnt, behind;
	const uint8_t *entries = frame_entries(file, &base, &cnt);
	uint32_t size;

	if (!entries)
		return -ENOENT;
	behind = BISECT(cnt, i, entry_addr(entries, base, i, 0) <= addr);
	if (!behind)
		return -ENOENT;
	start = entry_addr(entries, base, behind - 1, 0);
	if (!read_size(file, entry_addr(entries, base, behind - 1, 1), start, &size) || addr - start >= size)
		return -ENOENT;
	*ret_start = start;
	*ret_end = start + size;
	return 0;
}
