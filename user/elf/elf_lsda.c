/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Landing pads: .eh_frame has an entry for each function, which may point to its language-specific data
 * (.gcc_except_table), whose call-site table says for each range of its code where exceptions from it land.
 * (Linux Standard Base, "Exception Frames"; the LSDA as GCC's unwind-pe.h and libsupc++'s eh_personality.cc
 * read it; C++ and Rust share it.)
 *
 *	LSDA	u8 encoding [LPStart] u8 encoding [uleb: offset of the types] u8 encoding of the
 *		call sites uleb: their bytes
 *		{ start, length, landing pad, uleb action } ...		relative to the function; landing pad
 *									to LPStart; 0: none
 */
#include <string.h>

#include "base/array.h"
#include "elf/elf_internal.h"

enum {
	ENC_OMIT = 0xff,
	ENC_FORMAT = 0x0f,
	ENC_RELATION = 0x70,
	ENC_INDIRECT = 0x80,
	ENC_PCREL = 0x10,
	ENC_ULEB = 0x01,
	ENC_U2 = 0x02,
	ENC_U4 = 0x03,
	ENC_U8 = 0x04,
	ENC_SLEB = 0x09,
	ENC_S2 = 0x0a,
	ENC_S4 = 0x0b,
	ENC_S8 = 0x0c,
};

/* Bytes being read, and the address of the first. Reading past the end gives 0 and sets `bad`. */
struct cursor {
	const uint8_t *at, *end;
	uint64_t addr;
	bool bad;
};

static uint64_t read_fixed(struct cursor *cursor, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(cursor->end - cursor->at) < size) {
		cursor->bad = true;
		return 0;
	}
	memcpy(&value, cursor->at, size);
	cursor->at += size;
	cursor->addr += size;
	return value;
}

static uint64_t read_leb(struct cursor *cursor, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned int shift = 0;

	do {
		byte = read_fixed(cursor, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !cursor->bad);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~0ull << shift;
	return value;
}

static uint64_t read_format(struct cursor *cursor, uint8_t encoding)
{
	switch (encoding & ENC_FORMAT) {
	case 0:
	case ENC_U8:
	case ENC_S8:
		return read_fixed(cursor, 8);
	case ENC_ULEB:
		return read_leb(cursor, false);
	case ENC_SLEB:
		return read_leb(cursor, true);
	case ENC_U2:
		return read_fixed(cursor, 2);
	case ENC_S2:
		return (uint64_t)(int16_t)read_fixed(cursor, 2);
	case ENC_U4:
		return read_fixed(cursor, 4);
	case ENC_S4:
		return (uint64_t)(int32_t)read_fixed(cursor, 4);
	default:
		cursor->bad = true;
		return 0;
	}
}

/* A pointer; 0: none. */
static uint64_t read_pointer(struct cursor *cursor, uint8_t encoding)
{
	uint64_t base = (encoding & ENC_RELATION) == ENC_PCREL ? cursor->addr : 0, value;

	if (encoding == ENC_OMIT)
		return 0;
	value = read_format(cursor, encoding);
	if (encoding & ENC_INDIRECT || ((encoding & ENC_RELATION) && (encoding & ENC_RELATION) != ENC_PCREL))
		cursor->bad = true; /* nobody writes functions and LSDAs so */
	return value ? value + base : 0;
}

/* The file's bytes at a virtual address. */
static struct cursor bytes_at(const struct elf_file *file, uint64_t addr)
{
	size_t size;
	const uint8_t *bytes = elf_bytes_at(file, addr, &size);

	if (!bytes)
		return (struct cursor){.addr = addr, .bad = true};
	return (struct cursor){.at = bytes, .end = bytes + size, .addr = addr};
}

/* ---- the language-specific data of one function ---- */

static int read_lsda(const struct elf_file *file, uint64_t lsda, uint64_t function,
		     struct elf_handler_list *list)
{
	struct cursor cursor = bytes_at(file, lsda);
	uint64_t landing_base = function, size;
	uint8_t encoding = (uint8_t)read_fixed(&cursor, 1);
	int err = 0;

	if (encoding != ENC_OMIT)
		landing_base = read_pointer(&cursor, encoding);
	if (read_fixed(&cursor, 1) != ENC_OMIT)
		read_leb(&cursor, false);
	encoding = (uint8_t)read_fixed(&cursor, 1);
	size = read_leb(&cursor, false);
	if (cursor.bad || size > (uint64_t)(cursor.end - cursor.at))
		return 0;
	cursor.end = cursor.at + size;
	while (cursor.at < cursor.end && !cursor.bad && !err) {
		uint64_t start = read_format(&cursor, encoding), length = read_format(&cursor, encoding);
		uint64_t landing = read_format(&cursor, encoding);
		struct elf_handler handler = {.start = function + start,
					      .end = function + start + length,
					      .handler = landing_base + landing};

		read_leb(&cursor, false);
		if (landing && !cursor.bad)
			err = ARRAY_PUSH(list->items, list->cnt, list->cap, handler);
	}
	return err;
}

/* ---- .eh_frame ---- */

struct cie {
	uint8_t pointers; /* encoding of functions */
	uint8_t lsda;	  /* encoding of LSDA pointers, or ENC_OMIT */
	bool augmented;
};

static struct cie read_cie(struct cursor cursor)
{
	struct cie cie = {.lsda = ENC_OMIT};
	uint8_t version = (uint8_t)read_fixed(&cursor, 1);
	const char *letters = (const char *)cursor.at;
	size_t len = strnlen(letters, (size_t)(cursor.end - cursor.at));

	cursor.at += len + 1 <= (size_t)(cursor.end - cursor.at) ? len + 1 : len;
	cursor.addr += len + 1;
	read_leb(&cursor, false); /* code and data alignment, return address register */
	read_leb(&cursor, true);
	if (version == 1)
		read_fixed(&cursor, 1);
	else
		read_leb(&cursor, false);
	if (!len || letters[0] != 'z')
		return cie;
	cie.augmented = true;
	read_leb(&cursor, false);
	for (size_t i = 1; i < len && !cursor.bad; i++) {
		if (letters[i] == 'R') {
			cie.pointers = (uint8_t)read_fixed(&cursor, 1);
		} else if (letters[i] == 'L') {
			cie.lsda = (uint8_t)read_fixed(&cursor, 1);
		} else if (letters[i] == 'P') {
			uint8_t encoding = (uint8_t)read_fixed(&cursor, 1);

			read_format(&cursor, encoding);
		}
	}
	if (cursor.bad)
		cie.lsda = ENC_OMIT;
	return cie;
}

static int read_fde(const struct elf_file *file, struct cursor cursor, const struct cie *cie,
		    struct elf_handler_list *list)
{
	uint64_t function, lsda;

	if (!cie->augmented || cie->lsda == ENC_OMIT)
		return 0;
	function = read_pointer(&cursor, cie->pointers);
	read_format(&cursor, cie->pointers);
	read_leb(&cursor, false);
	lsda = read_pointer(&cursor, cie->lsda);
	return cursor.bad || !lsda ? 0 : read_lsda(file, lsda, function, list);
}

/* One entry after the other: u32 length, then u32 0 in a CIE, in an FDE the distance back to its CIE. */
static int read_frames(const struct elf_file *file, struct cursor cursor, struct elf_handler_list *list)
{
	const struct cursor all = cursor;
	int err = 0;

	while (cursor.at < cursor.end && !cursor.bad && !err) {
		uint64_t size = read_fixed(&cursor, 4), cie_at;
		struct cursor entry = cursor, of_cie = all;
		uint64_t back;

		if (!size || size == UINT32_MAX || size > (uint64_t)(cursor.end - cursor.at))
			break;
		entry.end = entry.at + size;
		cursor.at += size;
		cursor.addr += size;
		cie_at = entry.addr;
		back = read_fixed(&entry, 4);
		if (!back || back > cie_at - all.addr)
			continue;
		of_cie.at = all.at + (cie_at - back - all.addr);
		of_cie.addr = cie_at - back;
		read_fixed(&of_cie, 8); /* length and 0 */
		if (!of_cie.bad) {
			struct cie cie = read_cie(of_cie);

			err = read_fde(file, entry, &cie, list);
		}
	}
	return err;
}

int elf_lsda_handlers(const struct elf_file *file, struct elf_handler_list *list)
{
	GElf_Shdr header;
	struct cursor cursor;

	if (!elf_section(file->elf, ".gcc_except_table", &header) ||
	    !elf_section(file->elf, ".eh_frame", &header))
		return 0;
	cursor = bytes_at(file, header.sh_addr);
	if (cursor.bad || header.sh_size > (uint64_t)(cursor.end - cursor.at))
		return 0;
	cursor.end = cursor.at + header.sh_size;
	return read_frames(file, cursor, list);
}
