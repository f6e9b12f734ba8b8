/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MiniDebugInfo: the local functions of a stripped file, as an ELF file of its own, compressed with xz in the
 * section .gnu_debugdata (gdb's manual, "Debugging information in a special section").
 */
#include <lzma.h>

#include "elf/elf_internal.h"

enum { SIZE_MAX_UNPACKED = 256 << 20 };

static int unpack(const void *packed, size_t packed_size, uint8_t **ret_bytes, size_t *ret_size)
{
	size_t cap = packed_size * 8 + 4096;

	for (; cap <= SIZE_MAX_UNPACKED; cap *= 2) {
		uint64_t memory = SIZE_MAX_UNPACKED;
		size_t in = 0, out = 0;
		uint8_t *bytes = malloc(cap);
		lzma_ret ret = bytes ? lzma_stream_buffer_decode(&memory, 0, NULL, packed, &in, packed_size,
								 bytes, &out, cap)
				     : LZMA_MEM_ERROR;

		if (ret == LZMA_OK) {
			*ret_bytes = bytes;
			*ret_size = out;
			return 0;
		}
		free(bytes);
		if (ret != LZMA_BUF_ERROR)
			break;
	}
	return -1;
}

Elf *elf_minidebug_open(const struct elf_file *file, uint8_t **ret_bytes)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section(file->elf, ".gnu_debugdata", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	uint8_t *bytes;
	size_t size;
	Elf *elf;

	if (!data || !data->d_buf || unpack(data->d_buf, data->d_size, &bytes, &size))
		return NULL;
	elf = elf_memory((char *)bytes, size);
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64) {
		*ret_bytes = bytes;
		return elf;
	}
	if (elf)
		elf_end(elf);
	free(bytes);
	return NULL;
}
