/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/elf/fixture.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "image/jit_symbols.h"

static char path[] = "/tmp/jit.XXXXXX";

static void write_file(const void *bytes, size_t size)
{
	int fd = mkstemp(strcpy(path, "/tmp/jit.XXXXXX"));

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static void named(const struct jit_symbols *symbols, uint64_t ip, const char *expected)
{
	const struct jit_function *function = jit_symbols_find(symbols, ip, UINT64_MAX);
	const struct symbol *symbol = function ? &function->symbol : NULL;

	if (!expected)
		assert_null(symbol);
	else
		assert_string_equal(symbol ? symbol->name : "none", expected);
}

TEST(of_a_perf_map)
{
	static const char map[] =
		"1000 100 first function\n2000 10 second\nnonsense\n1080 20 newer\n3000 0 empty\n";
	struct jit_symbols symbols = {0};

	write_file(map, sizeof(map) - 1);
	assert_int_equal(jit_symbols_read_map(&symbols, path), 0);
	assert_int_equal(jit_symbols_sort(&symbols), 0);
	assert_int_equal(symbols.cnt, 3);
	named(&symbols, 0xfff, NULL);
	named(&symbols, 0x1000, "first function");
	named(&symbols, 0x1080, "newer");
	named(&symbols, 0x109f, "newer");
	named(&symbols, 0x10a0, "first function");
	named(&symbols, 0x1100, NULL);
	named(&symbols, 0x200f, "second");
	named(&symbols, 0x3000, NULL);
	jit_symbols_release(&symbols);
	unlink(path);
}

TEST(of_a_jvm)
{
	static const char text[] = "1000 100 30 2c java.util.TreeMap.put\n2000 80 0 ffffffff Interpreter\n"
				   "3000 10\n4000 0 0 0 empty\n5000 10 0 0 I2C/C2I adapters\n";
	struct jit_symbols symbols = {0};
	const struct jit_function *function;

	write_file(text, sizeof(text) - 1);
	assert_int_equal(jit_symbols_read_jvm(&symbols, path), 0);
	assert_int_equal(jit_symbols_sort(&symbols), 0);
	assert_int_equal(symbols.cnt, 3);
	named(&symbols, 0x10ff, "java.util.TreeMap.put");
	named(&symbols, 0x3000, NULL);
	named(&symbols, 0x5000, "I2C/C2I adapters");
	function = jit_symbols_find(&symbols, 0x1000, UINT64_MAX);
	assert_int_equal(function->frame.bytes, 0x30);
	assert_int_equal(function->frame.complete, 0x2c);
	assert_false(function->frame.is_interpreter);
	function = jit_symbols_find(&symbols, 0x2000, UINT64_MAX);
	assert_true(function->frame.is_interpreter);
	assert_true(function->symbol.is_region);
	jit_symbols_release(&symbols);
	unlink(path);
}

/* Code loaded, other records, code moved, and a record that is cut off. */
TEST(of_a_jitdump)
{
	static const struct __attribute__((packed)) {
		uint32_t magic, version, size, mach, pad, pid;
		uint64_t time, flags;
		struct __attribute__((packed)) {
			uint32_t id, size;
			uint64_t time;
			uint32_t pid, tid;
			uint64_t vma, addr, code_size, index;
			char name[8];
		} load;
		struct __attribute__((packed)) {
			uint32_t id, size;
			uint64_t time;
		} other;
		struct __attribute__((packed)) {
			uint32_t id, size;
			uint64_t time;
			uint32_t pid, tid;
			uint64_t vma, from, to, code_size, index;
		} move;
		uint32_t cut_id, cut_size;
		uint64_t cut_time;
	} dump = {0x4a695444,
		  1,
		  40,
		  62,
		  0,
		  1,
		  0,
		  0,
		  {0, 64, 0, 1, 1, 0, 0x5000, 0x40, 1, "loaded"},
		  {3, 16, 0},
		  {1, 64, 0, 1, 1, 0, 0x5000, 0x9000, 0x40, 1},
		  0,
		  1000,
		  0};
	struct jit_symbols symbols = {0};

	write_file(&dump, sizeof(dump));
	assert_int_equal(jit_symbols_read_dump(&symbols, path), 0);
	assert_int_equal(jit_symbols_sort(&symbols), 0);
	assert_int_equal(symbols.cnt, 2);
	named(&symbols, 0x503f, "loaded");
	named(&symbols, 0x9000, "loaded");
	named(&symbols, 0x9040, NULL);
	jit_symbols_release(&symbols);
	unlink(path);
	assert_int_equal(jit_symbols_read_dump(&symbols, "/nowhere"), -ENOENT);
}

TEST_MAIN(NULL, NULL)
