/* SPDX-License-Identifier: BSD-2-Clause */
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"

static int setup(void **state)
{
	if (fixture_enter(state))
		return -1;
	fixture_build("a.c",
		      "int add(int a, int b) { return a + b; }\nint main(void) { return add(1, 2); }\n",
		      "gcc -O0 -g -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 -o a a.c");
	return 0;
}

TEST(opens_a_program)
{
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open("a");

	assert_string_equal(elf_file_path(file), "a");
}

TEST(refuses_what_is_no_elf_file)
{
	struct elf_file *file = (void *)1;

	fixture_write("script", "#!/bin/sh\nexit 0\n", 17);
	fixture_write("empty", "", 0);
	fixture_write("text", "This is just some text, of no use.\n", 35);
	fixture_write("short", ELFMAG, SELFMAG);
	assert_err(elf_file_open(&file, "script"), -ENOEXEC, "script is a script; name the interpreter");
	assert_err(elf_file_open(&file, "empty"), -ENOEXEC, "empty is not an ELF file");
	assert_err(elf_file_open(&file, "text"), -ENOEXEC, "text is not an ELF file");
	assert_err(elf_file_open(&file, "short"), -ENOEXEC, "short is not an ELF file");
	assert_err(elf_file_open(&file, "/tmp"), -ENOEXEC, "/tmp is not an ELF file");
	assert_err(elf_file_open(&file, "nothing"), -ENOENT, "nothing");
	assert_ptr_equal(file, (void *)1);
}

/* A copy of the program with one byte changed. */
static void patch(const char *path, long offset, uint8_t byte)
{
	char command[64];
	int fd;

	snprintf(command, sizeof(command), "cp a %s", path);
	fixture_run(command);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
	close(fd);
}

TEST(refuses_other_machines)
{
	struct elf_file *file;

	patch("a32", EI_CLASS, ELFCLASS32);
	patch("arm", offsetof(Elf64_Ehdr, e_machine), EM_AARCH64);
	patch("big", EI_DATA, ELFDATA2MSB);
	assert_err(elf_file_open(&file, "a32"), -ENOTSUP, "a32 is a 32-bit program");
	assert_err(elf_file_open(&file, "arm"), -ENOTSUP, "arm is not for x86-64");
	assert_err(elf_file_open(&file, "big"), -ENOTSUP, "big is not for x86-64");
}

TEST(converts_addresses_and_offsets)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	uint64_t offset, addr;

	fixture_run("gcc -O0 -no-pie -Wl,-Ttext-segment=0x10000000 -o fixed a.c");
	file = fixture_open("fixed");
	addr = fixture_find(file, "add")->addr;
	assert_true(addr > 0x10000000);
	assert_ok(elf_file_offset(file, addr, &offset));
	assert_true(offset < 0x10000);
	assert_true(elf_file_is_code(file, addr));
	assert_ok(elf_file_addr(file, offset, &addr));
	assert_int_equal(addr, fixture_find(file, "add")->addr);
	/* The mapping begins with a whole page. */
	assert_ok(elf_file_addr(file, offset & ~0xfffull, &addr));
	assert_int_equal(addr, fixture_find(file, "add")->addr & ~0xfffull);
	assert_int_equal(elf_file_offset(file, 0x1000, &offset), -ERANGE);
	assert_int_equal(elf_file_addr(file, 1ull << 40, &addr), -ERANGE);
	assert_false(elf_file_is_code(file, 0x1000));
	assert_false(elf_file_is_code(file, 0x10000000)); /* headers: mapped, but no code */
}

/* Some linkers let the code begin in the middle of a page, which is mapped from its beginning. */
TEST(segments_need_not_begin_with_a_page)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	Elf64_Ehdr header;
	Elf64_Phdr load;
	uint64_t addr;
	int fd;

	fixture_run("cp a middle");
	fd = open("middle", O_RDWR);
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(load));

		assert_int_equal(pread(fd, &load, sizeof(load), at), sizeof(load));
		if (load.p_type != PT_LOAD || !(load.p_flags & PF_X))
			continue;
		load.p_offset += 0x10;
		load.p_vaddr += 0x10;
		load.p_filesz -= 0x10;
		load.p_memsz -= 0x10;
		assert_int_equal(pwrite(fd, &load, sizeof(load), at), sizeof(load));
		break;
	}
	close(fd);
	file = fixture_open("middle");
	assert_ok(elf_file_addr(file, load.p_offset & ~0xfffull, &addr));
	assert_int_equal(addr, load.p_vaddr & ~0xfffull);
	assert_true(elf_file_is_code(file, load.p_vaddr));
	assert_false(elf_file_is_code(file, load.p_vaddr - 1));
}

TEST(reads_bytes)
{
	CLEANUP(elf_file_closep) struct elf_file *file = fixture_open("a");
	uint8_t bytes[8];
	struct stat st;

	assert_int_equal(elf_file_read(file, 0, bytes, 4), 4);
	assert_memory_equal(bytes, ELFMAG, 4);
	assert_int_equal(stat("a", &st), 0);
	assert_int_equal(elf_file_read(file, (uint64_t)st.st_size - 3, bytes, 8), 3);
	assert_int_equal(elf_file_read(file, 1ull << 62, bytes, 8), 0);
}

TEST(knows_the_build_id)
{
	static const uint8_t expected[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
					   0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67};
	CLEANUP(elf_file_closep) struct elf_file *with = fixture_open("a");
	CLEANUP(elf_file_closep) struct elf_file *without = NULL;
	const uint8_t *id;
	size_t size;

	id = elf_file_build_id(with, &size);
	assert_int_equal(size, sizeof(expected));
	assert_memory_equal(id, expected, sizeof(expected));
	fixture_run("gcc -Wl,--build-id=none -o noid a.c");
	without = fixture_open("noid");
	assert_null(elf_file_build_id(without, &size));
	assert_int_equal(size, 0);
}

/* ---- hostile files ---- */

static uint8_t *load(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "r");
	uint8_t *bytes = malloc(1 << 20);

	assert_non_null(file);
	assert_non_null(bytes);
	*ret_size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

/* Asks for everything a file can be asked for. Returns whether it could be opened. */
static int use(const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const struct elf_symbol *symbols, *found[4];
	const char *names[4], *source;
	size_t cnt, id_size;
	char *library;
	uint32_t line;

	if (elf_file_open(&file, path))
		return 0;
	symbols = elf_file_symbols(file, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		assert_true(strlen(symbols[i].name) > 0);
		elf_file_symbol_at(file, symbols[i].addr + 1);
		elf_file_source(file, symbols[i].addr, &source, &line);
	}
	elf_file_source(file, 0x1139, &source, &line);
	elf_file_find(file, "main", found, 4);
	elf_file_similar(file, "mian", names, 4);
	elf_file_build_id(file, &id_size);
	if (!elf_library_find(path, "libc.so.6", &library))
		free(library);
	return 1;
}

TEST(survives_truncation)
{
	CLEANUP(freep) uint8_t *bytes = NULL;
	size_t size, opened = 0;

	bytes = load("a", &size);
	for (size_t i = 0; i < 500; i++) {
		fixture_write("cut", bytes, i * size / 500);
		opened += (size_t)use("cut");
	}
	assert_true(opened > 0 && opened < 500);
}

TEST(survives_damage)
{
	CLEANUP(freep) uint8_t *bytes = NULL;
	CLEANUP(freep) uint8_t *damaged = NULL;
	size_t size, opened = 0;

	bytes = load("a", &size);
	damaged = malloc(size);
	srand(1);
	for (size_t i = 0; i < 500; i++) {
		memcpy(damaged, bytes, size);
		for (size_t j = 0; j < 40; j++)
			damaged[20 + (size_t)rand() % (size - 20)] = (uint8_t)rand();
		fixture_write("damaged", damaged, size);
		opened += (size_t)use("damaged");
	}
	assert_true(opened > 0);
}

/* Section headers and dynamic tables are where a file says how long things are. */
TEST(survives_damaged_headers)
{
	CLEANUP(freep) uint8_t *bytes = NULL;
	CLEANUP(freep) uint8_t *damaged = NULL;
	const Elf64_Ehdr *header;
	size_t size, table;

	bytes = load("a", &size);
	damaged = malloc(size);
	header = (const void *)bytes;
	table = header->e_shnum * sizeof(Elf64_Shdr);
	srand(2);
	for (size_t i = 0; i < 500; i++) {
		memcpy(damaged, bytes, size);
		for (size_t j = 0; j < 4; j++) {
			size_t at = header->e_shoff + ((size_t)rand() % (table / 8)) * 8;
			uint64_t value = i % 2 ? UINT64_MAX : (uint64_t)rand() << (rand() % 33);

			memcpy(damaged + at, &value, sizeof(value));
		}
		fixture_write("damaged", damaged, size);
		use("damaged");
	}
}

TEST_MAIN(setup, fixture_leave)
