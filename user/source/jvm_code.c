/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CodeCache::_heaps are CodeHeaps, each of which is memory full of HeapBlocks (share/memory/heap.hpp). A used
 * one is followed by a CodeBlob (share/code/codeBlob.hpp): a compiled method (nmethod), a stub, or the
 * interpreter. What is read is another process's, and may be anything.
 */
#include "source/jvm_code.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file/path.h"
#include "elf/elf_file.h"
#include "process/maps.h"

enum {
	PAGE_BYTES = 4096,
	PAGE_CNT = 1 << 10,
	NAME_MAX_BYTES = 256,
	ENTRIES_MAX = 1 << 14,
	HEAPS_MAX = 16,
	STEPS_MAX = 1 << 20,
	BLOB_BYTES_MAX = 1 << 24
};

/* What libjvm.so exports, each 8 bytes. */
enum vm_symbol {
	STRUCTS,
	STRUCT_TYPE_AT,
	STRUCT_FIELD_AT,
	STRUCT_IS_STATIC_AT,
	STRUCT_OFFSET_AT,
	STRUCT_ADDRESS_AT,
	STRUCT_STRIDE,
	TYPES,
	TYPE_NAME_AT,
	TYPE_SIZE_AT,
	TYPE_STRIDE,
	VM_SYMBOL_CNT
};

static const char *const vm_symbols[VM_SYMBOL_CNT] = {
	[STRUCTS] = "gHotSpotVMStructs",
	[STRUCT_TYPE_AT] = "gHotSpotVMStructEntryTypeNameOffset",
	[STRUCT_FIELD_AT] = "gHotSpotVMStructEntryFieldNameOffset",
	[STRUCT_IS_STATIC_AT] = "gHotSpotVMStructEntryIsStaticOffset",
	[STRUCT_OFFSET_AT] = "gHotSpotVMStructEntryOffsetOffset",
	[STRUCT_ADDRESS_AT] = "gHotSpotVMStructEntryAddressOffset",
	[STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[TYPES] = "gHotSpotVMTypes",
	[TYPE_NAME_AT] = "gHotSpotVMTypeEntryTypeNameOffset",
	[TYPE_SIZE_AT] = "gHotSpotVMTypeEntrySizeOffset",
	[TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
};

/* Where fields are; of static ones the address. A field without a name: the size of the type. */
enum vm_field {
	HEAPS,
	ARRAY_CNT,
	ARRAY_DATA,
	HEAP_MEMORY,
	HEAP_SHIFT,
	SPACE_LOW,
	SPACE_HIGH,
	BLOCK_LENGTH,
	BLOCK_USED,
	BLOCK_SIZE,
	BLOB_NAME,
	BLOB_BEGIN,
	BLOB_END,
	BLOB_FRAME,
	BLOB_COMPLETE,
	BLOB_METHOD,
	METHOD_CONST,
	CONST_POOL,
	CONST_NAME,
	POOL_HOLDER,
	POOL_SIZE,
	KLASS_NAME,
	SYMBOL_LENGTH,
	SYMBOL_BODY,
	NEEDED_CNT,
	/* Those for methods that are interpreted. */
	LOADERS = NEEDED_CNT,
	LOADER_NEXT,
	LOADER_KLASS,
	KLASS_NEXT,
	KLASS_LAYOUT,
	KLASS_METHODS,
	METHODS_CNT,
	METHODS_DATA,
	VM_FIELD_CNT
};

static const struct {
	enum vm_field field;
	const char *type, *name;
} vm_fields[] = {
	{HEAPS, "CodeCache", "_heaps"},
	{ARRAY_CNT, "GrowableArrayBase", "_len"},
	{ARRAY_CNT, "GenericGrowableArray", "_len"}, /* up to JDK 14 */
	{ARRAY_DATA, "GrowableArray<int>", "_data"},
	{HEAP_MEMORY, "CodeHeap", "_memory"},
	{HEAP_SHIFT, "CodeHeap", "_log2_segment_size"},
	{SPACE_LOW, "VirtualSpace", "_low"},
	{SPACE_HIGH, "VirtualSpace", "_high"},
	{BLOCK_LENGTH, "HeapBlock::Header", "_length"},
	{BLOCK_USED, "HeapBlock::Header", "_used"},
	{BLOCK_SIZE, "HeapBlock", NULL},
	{BLOB_NAME, "CodeBlob", "_name"},
	{BLOB_BEGIN, "CodeBlob", "_code_begin"},
	{BLOB_END, "CodeBlob", "_code_end"},
	{BLOB_FRAME, "CodeBlob", "_frame_size"},
	{BLOB_COMPLETE, "CodeBlob", "_frame_complete_offset"},
	{BLOB_METHOD, "CompiledMethod", "_method"},
	{BLOB_METHOD, "nmethod", "_method"},
	{METHOD_CONST, "Method", "_constMethod"},
	{CONST_POOL, "ConstMethod", "_constants"},
	{CONST_NAME, "ConstMethod", "_name_index"},
	{POOL_HOLDER, "ConstantPool", "_pool_holder"},
	{POOL_SIZE, "ConstantPool", NULL},
	{KLASS_NAME, "Klass", "_name"},
	{SYMBOL_LENGTH, "Symbol", "_length"},
	{SYMBOL_BODY, "Symbol", "_body"},
	{LOADERS, "ClassLoaderDataGraph", "_head"},
	{LOADER_NEXT, "ClassLoaderData", "_next"},
	{LOADER_KLASS, "ClassLoaderData", "_klasses"},
	{KLASS_NEXT, "Klass", "_next_link"},
	{KLASS_LAYOUT, "Klass", "_layout_helper"},
	{KLASS_METHODS, "InstanceKlass", "_methods"},
	{METHODS_CNT, "Array<Klass*>", "_length"}, /* as of all arrays */
	{METHODS_DATA, "Array<Method*>", "_data"},
};

/* Most of what is read stands close together. */
struct page {
	uint64_t start;
	bool is_there;
	uint8_t bytes[PAGE_BYTES];
};

struct jvm {
	int mem;
	struct page *pages;		 /* of PAGE_CNT, those read last */
	uint64_t symbols[VM_SYMBOL_CNT]; /* first where they are, then what they hold */
	uint64_t fields[VM_FIELD_CNT];
	uint64_t known; /* bit N: field N */
	FILE *out;
	int left; /* pieces of code, methods, and classes that are looked at at most: lists may have no end */
};

_Static_assert(VM_FIELD_CNT < 64, "a bit for each");

/* Whether all of the fields from `from` up to `to` are known. */
static bool has_fields(const struct jvm *jvm, int from, int to)
{
	return (jvm->known >> from & ((1ull << (to - from)) - 1)) == (1ull << (to - from)) - 1;
}

/* ---- its memory ---- */

/* Of the page at `addr` what is behind it; NULL: it cannot be read. */
static const uint8_t *page_at(const struct jvm *jvm, uint64_t addr, size_t *ret_left)
{
	uint64_t start = addr & ~(PAGE_BYTES - 1ull);
	struct page *page = &jvm->pages[start / PAGE_BYTES % PAGE_CNT];

	if (page->start != start || !start) {
		page->start = start;
		page->is_there = pread(jvm->mem, page->bytes, PAGE_BYTES, (off_t)start) == PAGE_BYTES;
	}
	*ret_left = PAGE_BYTES - (addr - start);
	return page->is_there ? page->bytes + (addr - start) : NULL;
}

/* How many of them could be read. */
static size_t read_some(const struct jvm *jvm, uint64_t addr, void *bytes, size_t size)
{
	size_t done = 0, left;

	while (done < size) {
		const uint8_t *from = page_at(jvm, addr + done, &left);

		if (!from)
			break;
		left = left < size - done ? left : size - done;
		memcpy((uint8_t *)bytes + done, from, left);
		done += left;
	}
	return done;
}

static bool read_bytes(const struct jvm *jvm, uint64_t addr, void *bytes, size_t size)
{
	return read_some(jvm, addr, bytes, size) == size;
}

/* 0 if it cannot be read. */
static uint64_t word_at(const struct jvm *jvm, uint64_t addr)
{
	uint64_t word;

	return read_bytes(jvm, addr, &word, sizeof(word)) ? word : 0;
}

static uint32_t half_at(const struct jvm *jvm, uint64_t addr)
{
	uint32_t half;

	return read_bytes(jvm, addr, &half, sizeof(half)) ? half : 0;
}

static uint16_t quarter_at(const struct jvm *jvm, uint64_t addr)
{
	uint16_t quarter;

	return read_bytes(jvm, addr, &quarter, sizeof(quarter)) ? quarter : 0;
}

/* Of a name that ends with a 0, what fits. False: there is none. */
static bool name_at(const struct jvm *jvm, uint64_t addr, char name[static NAME_MAX_BYTES])
{
	name[addr ? read_some(jvm, addr, name, NAME_MAX_BYTES - 1) : 0] = '\0';
	return name[0];
}

/* ---- its tables ---- */

/* Where the library's symbols are in the process. */
static void find_symbols(struct jvm *jvm, const struct sideband_mapping *mapping)
{
	struct elf_file *file;
	uint64_t linked;

	if (elf_file_open(&file, mapping->name))
		return;
	for (size_t i = 0; i < VM_SYMBOL_CNT && !elf_file_addr(file, mapping->file_offset, &linked); i++)
		if (!elf_file_find_data(file, vm_symbols[i], &jvm->symbols[i]))
			jvm->symbols[i] += mapping->addr - linked;
	elf_file_close(file);
}

static bool read_symbols(struct jvm *jvm)
{
	for (size_t i = 0; i < VM_SYMBOL_CNT; i++) {
		if (!jvm->symbols[i])
			return false;
		jvm->symbols[i] = word_at(jvm, jvm->symbols[i]);
	}
	return jvm->symbols[STRUCTS] && jvm->symbols[STRUCT_STRIDE] && jvm->symbols[TYPES] &&
	       jvm->symbols[TYPE_STRIDE];
}

static void set_field(struct jvm *jvm, const char *type, const char *name, uint64_t value)
{
	for (size_t i = 0; i < ARRAY_SIZE(vm_fields); i++) {
		if (strcmp(vm_fields[i].type, type) || !vm_fields[i].name != !name ||
		    (name && strcmp(vm_fields[i].name, name)))
			continue;
		jvm->fields[vm_fields[i].field] = value;
		jvm->known |= 1ull << vm_fields[i].field;
	}
}

static bool read_tables(struct jvm *jvm)
{
	const uint64_t *symbols = jvm->symbols;
	char type[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
	uint64_t at = symbols[STRUCTS];

	for (int i = 0; i < ENTRIES_MAX && name_at(jvm, word_at(jvm, at + symbols[STRUCT_TYPE_AT]), type);
	     i++) {
		bool is_static = half_at(jvm, at + symbols[STRUCT_IS_STATIC_AT]);

		if (name_at(jvm, word_at(jvm, at + symbols[STRUCT_FIELD_AT]), name))
			set_field(
				jvm, type, name,
				word_at(jvm, at + symbols[is_static ? STRUCT_ADDRESS_AT : STRUCT_OFFSET_AT]));
		at += symbols[STRUCT_STRIDE];
	}
	at = symbols[TYPES];
	for (int i = 0; i < ENTRIES_MAX && name_at(jvm, word_at(jvm, at + symbols[TYPE_NAME_AT]), type);
	     i++) {
		set_field(jvm, type, NULL, word_at(jvm, at + symbols[TYPE_SIZE_AT]));
		at += symbols[TYPE_STRIDE];
	}
	return has_fields(jvm, 0, NEEDED_CNT);
}

/* ---- its code ---- */

/* A Symbol's text, with '.' for '/'. */
static bool symbol_at(const struct jvm *jvm, uint64_t symbol, char text[static NAME_MAX_BYTES])
{
	size_t length = symbol ? quarter_at(jvm, symbol + jvm->fields[SYMBOL_LENGTH]) : 0;

	if (length >= NAME_MAX_BYTES)
		length = NAME_MAX_BYTES - 1;
	if (!length || !read_bytes(jvm, symbol + jvm->fields[SYMBOL_BODY], text, length))
		return false;
	text[length] = '\0';
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)text[i] < ' ')
			return false;
		if (text[i] == '/')
			text[i] = '.';
	}
	return true;
}

static bool method_name(const struct jvm *jvm, uint64_t method, char name[static 2 * NAME_MAX_BYTES])
{
	uint64_t constant = method ? word_at(jvm, method + jvm->fields[METHOD_CONST]) : 0;
	uint64_t pool = constant ? word_at(jvm, constant + jvm->fields[CONST_POOL]) : 0;
	uint64_t holder = pool ? word_at(jvm, pool + jvm->fields[POOL_HOLDER]) : 0, own;
	char klass_text[NAME_MAX_BYTES], own_text[NAME_MAX_BYTES];

	if (!holder || !symbol_at(jvm, word_at(jvm, holder + jvm->fields[KLASS_NAME]), klass_text))
		return false;
	own = word_at(jvm, pool + jvm->fields[POOL_SIZE] +
				   sizeof(uint64_t) * quarter_at(jvm, constant + jvm->fields[CONST_NAME]));
	if (!symbol_at(jvm, own, own_text))
		return false;
	snprintf(name, 2 * NAME_MAX_BYTES, "%s.%s", klass_text, own_text);
	return true;
}

static void put_blob(const struct jvm *jvm, uint64_t blob)
{
	uint64_t begin = word_at(jvm, blob + jvm->fields[BLOB_BEGIN]),
		 end = word_at(jvm, blob + jvm->fields[BLOB_END]);
	uint32_t frame = half_at(jvm, blob + jvm->fields[BLOB_FRAME]),
		 complete = half_at(jvm, blob + jvm->fields[BLOB_COMPLETE]);
	char name[2 * NAME_MAX_BYTES];

	if (begin < blob || begin >= end || end - begin > BLOB_BYTES_MAX || frame > BLOB_BYTES_MAX / 8 ||
	    !name_at(jvm, word_at(jvm, blob + jvm->fields[BLOB_NAME]), name))
		return;
	if (strstr(name, "nmethod") && !method_name(jvm, word_at(jvm, blob + jvm->fields[BLOB_METHOD]), name))
		return;
	fprintf(jvm->out, "%" PRIx64 " %" PRIx64 " %" PRIx32 " %" PRIx32 " %s\n", begin, end - begin,
		frame * (uint32_t)sizeof(uint64_t), complete, name);
}

static void read_heap(struct jvm *jvm, uint64_t heap)
{
	uint64_t space = heap + jvm->fields[HEAP_MEMORY], at = word_at(jvm, space + jvm->fields[SPACE_LOW]),
		 end = word_at(jvm, space + jvm->fields[SPACE_HIGH]), length;
	uint32_t shift = half_at(jvm, heap + jvm->fields[HEAP_SHIFT]);

	for (; jvm->left-- > 0 && at < end && shift < 32; at += length) {
		uint8_t is_used = 0;

		length = word_at(jvm, at + jvm->fields[BLOCK_LENGTH]) << shift;
		if (!length || length > end - at)
			return;
		if (read_bytes(jvm, at + jvm->fields[BLOCK_USED], &is_used, 1) && is_used)
			put_blob(jvm, at + jvm->fields[BLOCK_SIZE]);
	}
}

static void read_heaps(struct jvm *jvm)
{
	uint64_t heaps = word_at(jvm, jvm->fields[HEAPS]);
	uint32_t cnt = heaps ? half_at(jvm, heaps + jvm->fields[ARRAY_CNT]) : 0;
	uint64_t data = heaps ? word_at(jvm, heaps + jvm->fields[ARRAY_DATA]) : 0;

	for (uint32_t i = 0; i < cnt && i < HEAPS_MAX; i++)
		read_heap(jvm, word_at(jvm, data + i * sizeof(uint64_t)));
}

/* ---- its methods, of which those that are interpreted have no code of their own ---- */

static void put_methods(struct jvm *jvm, uint64_t klass)
{
	uint64_t methods = word_at(jvm, klass + jvm->fields[KLASS_METHODS]);
	uint32_t cnt = methods ? half_at(jvm, methods + jvm->fields[METHODS_CNT]) : 0;
	char name[2 * NAME_MAX_BYTES];

	for (uint32_t i = 0; i < cnt && jvm->left-- > 0; i++) {
		uint64_t method = word_at(jvm, methods + jvm->fields[METHODS_DATA] + i * sizeof(uint64_t));

		if (method_name(jvm, method, name))
			fprintf(jvm->out, "%" PRIx64 " 8 0 0 %s\n", method, name);
	}
}

/* Of all classes; the layout of arrays is negative (share/oops/klass.hpp). */
static void read_methods(struct jvm *jvm)
{
	uint64_t loader = word_at(jvm, jvm->fields[LOADERS]);

	for (; loader && jvm->left-- > 0; loader = word_at(jvm, loader + jvm->fields[LOADER_NEXT])) {
		uint64_t klass = word_at(jvm, loader + jvm->fields[LOADER_KLASS]);

		for (; klass && jvm->left-- > 0; klass = word_at(jvm, klass + jvm->fields[KLASS_NEXT]))
			if ((int32_t)half_at(jvm, klass + jvm->fields[KLASS_LAYOUT]) > 0)
				put_methods(jvm, klass);
	}
}

const struct sideband_mapping *jvm_code_library(const struct maps *maps)
{
	for (size_t i = 0; i < maps->cnt; i++)
		if (!strcmp(path_name(maps->items[i].mapping.name), "libjvm.so"))
			return &maps->items[i].mapping;
	return NULL;
}

int jvm_code_read(pid_t pid, const struct maps *maps, char **ret_text, size_t *ret_size)
{
	const struct sideband_mapping *library = jvm_code_library(maps);
	struct jvm jvm = {.mem = -1, .left = STEPS_MAX};
	char path[64];

	*ret_text = NULL;
	*ret_size = 0;
	if (!library)
		return 0;
	jvm.pages = calloc(PAGE_CNT, sizeof(*jvm.pages));
	if (!jvm.pages)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	jvm.mem = open(path, O_RDONLY | O_CLOEXEC);
	if (jvm.mem >= 0)
		find_symbols(&jvm, library);
	if (jvm.mem >= 0 && read_symbols(&jvm) && read_tables(&jvm)) {
		jvm.out = open_memstream(ret_text, ret_size);
		if (jvm.out)
			read_heaps(&jvm);
		if (jvm.out && has_fields(&jvm, LOADERS, VM_FIELD_CNT))
			read_methods(&jvm);
	}
	closep(&jvm.mem);
	free(jvm.pages);
	return jvm.out && (fclose(jvm.out) || !*ret_text) ? -ENOMEM : 0;
}
