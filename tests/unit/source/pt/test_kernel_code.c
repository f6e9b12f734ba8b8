/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/pt/kernel_code.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "assertions.h"
#include "base/error.h"

enum { PAGE = 4096, TEXT_PAGES = 3, MODULE_PAGES = 9 };

#define TEXT   0xffffffff81000000ull
#define MODULE 0xffffffffc0200000ull

static char dir[] = "/tmp/kernel.XXXXXX";

static void put_file(const char *name, const void *bytes, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void put_text(const char *name, const char *text)
{
	put_file(name, text, strlen(text));
}

/* A page of the kernel's holds its own number in each byte; the module's pages count from 100. */
static void put_core(void)
{
	static struct {
		Elf64_Ehdr header;
		Elf64_Phdr loads[2];
		uint8_t fill[PAGE - sizeof(Elf64_Ehdr) - 2 * sizeof(Elf64_Phdr)];
		uint8_t pages[TEXT_PAGES + MODULE_PAGES][PAGE];
	} core = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
			   .e_type = ET_CORE,
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2},
		.loads = {
			{.p_type = PT_LOAD, .p_vaddr = TEXT, .p_offset = PAGE, .p_memsz = TEXT_PAGES * PAGE},
			{.p_type = PT_LOAD,
			 .p_vaddr = MODULE,
			 .p_offset = (1 + TEXT_PAGES) * PAGE,
			 .p_memsz = MODULE_PAGES * PAGE}}};

	for (int i = 0; i < TEXT_PAGES + MODULE_PAGES; i++)
		memset(core.pages[i], i < TEXT_PAGES ? i : 100 + i - TEXT_PAGES, PAGE);
	put_file("kcore", &core, sizeof(core));
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/kernel.XXXXXX");
	assert_non_null(mkdtemp(dir));
	put_core();
	put_text("kallsyms",
		 "ffffffff81000000 T _stext\nffffffff81000010 t first\nffffffff81001800 T _etext\n"
		 "ffffffff82000000 D data\nffffffffc0200080 t of_module\t[ext4]\n");
	put_text("modules", "ext4 4096 0 - Live 0xffffffffc0200000\n");
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {"kcore", "kallsyms", "modules"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static const struct code_copy *copy_at(const struct snapshot *snapshot, const char *name, uint64_t addr)
{
	for (size_t i = 0; i < snapshot->copy_cnt; i++)
		if (!strcmp(snapshot->copies[i].name, name) && snapshot->copies[i].addr == addr)
			return &snapshot->copies[i];
	fail_msg("no %s at %lx", name, addr);
	return NULL;
}

TEST_WITH(text_and_modules_are_copied, setup, teardown)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	const struct code_copy *copy;

	assert_ok(snapshot_new(&snapshot));
	assert_ok(kernel_code_copy(snapshot, dir));
	copy = copy_at(snapshot, KERNEL_CODE, TEXT);
	assert_int_equal(copy->size, 2 * PAGE); /* _etext is in the second */
	assert_int_equal(copy->bytes[PAGE], 1);
	copy = copy_at(snapshot, KERNEL_CODE, MODULE);
	assert_in_range(copy->size, PAGE, MODULE_PAGES * PAGE);
	assert_int_equal(copy->bytes[0], 100);
	copy = copy_at(snapshot, KERNEL_NAMES, 0);
	assert_null(memmem(copy->bytes, copy->size, "data", 4));
	assert_non_null(memmem(copy->bytes, copy->size, "of_module\t[ext4]", 16));
	copy_at(snapshot, KERNEL_MODULES, 0);
}

TEST_WITH(what_is_written_reads_the_same, setup, teardown)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	CLEANUP(snapshot_freep) struct snapshot *again = NULL;
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	assert_ok(snapshot_new(&snapshot));
	assert_ok(snapshot_new(&again));
	assert_ok(kernel_code_copy(snapshot, dir));
	assert_true(kernel_code_is_there(snapshot));
	assert_ok(kernel_code_write(snapshot, fd));
	assert_ok(kernel_code_read(again, dir));
	assert_int_equal(again->copy_cnt, snapshot->copy_cnt);
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		const struct code_copy *a = &snapshot->copies[i], *b = copy_at(again, a->name, a->addr);
		uint8_t *bytes = malloc(a->size);
		int file = open(b->path, O_RDONLY);

		assert_int_equal(a->size, b->size);
		assert_int_equal(pread(file, bytes, a->size, (off_t)b->file_offset), a->size);
		assert_memory_equal(a->bytes, bytes, a->size);
		free(bytes);
		close(file);
	}
	close(fd);
}

TEST_WITH(hidden_addresses_are_told, setup, teardown)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;

	put_text("kallsyms", "0000000000000000 T _stext\n0000000000000000 T _etext\n");
	assert_ok(snapshot_new(&snapshot));
	assert_int_equal(kernel_code_copy(snapshot, dir), -EACCES);
	assert_non_null(strstr(fail_message(-EACCES), "kptr_restrict"));
}

TEST_WITH(a_core_file_may_be_damaged_or_missing, setup, teardown)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
			     .e_type = ET_CORE,
			     .e_phoff = UINT64_MAX - 8,
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = UINT16_MAX};

	assert_ok(snapshot_new(&snapshot));
	put_file("kcore", &header, sizeof(header));
	assert_int_equal(kernel_code_read(snapshot, dir), -EBADMSG);
	put_text("kcore", "nonsense");
	assert_int_equal(kernel_code_read(snapshot, dir), -EBADMSG);
	assert_ok(kernel_code_read(snapshot, "/nowhere"));
	assert_int_equal(kernel_code_copy(snapshot, "/nowhere"), -ENOENT);
	assert_int_equal(snapshot->copy_cnt, 0);
}

TEST_MAIN(NULL, NULL)
