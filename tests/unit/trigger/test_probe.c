/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/probe.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "base/array.h"
#include "probe/args/arg_layout.h"
#include "trigger/trigger.h"
#include "unit/probe/fixture.h"

enum { CODE_BYTES = 16 };

static const struct {
	const char *text;
	uint8_t code[CODE_BYTES];
	const char *obstacle; /* part of it */
} cases[] = {
	{"push %rbp", {0x55}, NULL},
	{"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, NULL},
	{"nop", {0x90}, NULL},
	{"nopl 0(%rax,%rax)", {0x0f, 0x1f, 0x44, 0x00, 0x00}, NULL},
	{"sub $8,%rsp", {0x48, 0x83, 0xec, 0x08}, NULL},
	{"mov 0x100(%rip),%rax", {0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00}, NULL},
	{"mov %fs:0,%rax", {0x64, 0x48, 0x8b, 0x04, 0x25}, NULL},
	{"call +16", {0xe8, 0x10}, NULL},
	{"jmp +2", {0xeb, 0x02}, NULL},
	{"jmp *%rax", {0xff, 0xe0}, NULL},
	{"ret", {0xc3}, NULL},
	{"rep ret", {0xf3, 0xc3}, NULL},
	{"xor %eax,%eax", {0x31, 0xc0}, NULL},
	{"movw $1,%ax", {0x66, 0xb8, 0x01, 0x00}, NULL},
	{"movss (%rdi),%xmm0", {0xf3, 0x0f, 0x10, 0x07}, NULL},
	{"vzeroupper", {0xc5, 0xf8, 0x77}, NULL},
	{"vmovups (%rsi),%ymm0", {0xc5, 0xfc, 0x10, 0x06}, NULL},
	{"syscall", {0x0f, 0x05}, NULL},
	{"lock incl (%rdi)", {0xf0, 0xff, 0x07}, "lock prefix"},
	{"nopw %cs:0(%rax,%rax)", {0x66, 0x2e, 0x0f, 0x1f, 0x84}, "segment prefix"},
	{"notrack jmp *%rax", {0x3e, 0xff, 0xe0}, "segment prefix"},
	{"es mov", {0x26, 0x8b, 0x07}, "segment prefix"},
	{"ss mov", {0x36, 0x8b, 0x07}, "segment prefix"},
	{"int3", {0xcc}, "allows no probe on"},
	{"int $0x80", {0xcd, 0x80}, "allows no probe on"},
	{"iretq", {0x48, 0xcf}, "allows no probe on"},
	{"hlt", {0xf4}, "allows no probe on"},
	{"cli", {0xfa}, "allows no probe on"},
	{"sti", {0xfb}, "allows no probe on"},
	{"insb", {0x6c}, "allows no probe on"},
	{"rep outsb", {0xf3, 0x6e}, "allows no probe on"},
	{"in $1,%al", {0xe4, 0x01}, "allows no probe on"},
	{"out %eax,%dx", {0xef}, "allows no probe on"},
	{"int1", {0xf1}, "allows no probe on"},
	{"mov %eax,%ss", {0x8e, 0xd0}, "delays exceptions"},
	{"callw", {0x66, 0xe8, 0x10, 0x00}, "16-bit branch"},
	{"data16 jne", {0x66, 0x75, 0x02}, "16-bit branch"},
	{"push %es", {0x06}, "valid instruction"},
	{"daa", {0x27}, "valid instruction"},
};

TEST(test_obstacles)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *obstacle = probe_obstacle(cases[i].code, CODE_BYTES);

		if (!obstacle != !cases[i].obstacle || (obstacle && !strstr(obstacle, cases[i].obstacle)))
			fail_msg("%s: %s", cases[i].text, obstacle ? obstacle : "none");
	}
}

/* Cut off by the end of the file. */
TEST(test_truncated)
{
	static const uint8_t code[] = {0x48, 0x83, 0xec, 0x08};

	for (size_t size = 0; size < sizeof(code); size++)
		assert_non_null(probe_obstacle(code, size));
	assert_null(probe_obstacle(code, sizeof(code)));
}

/* Maps a file of all the cases' code, as a program that is about to run it would. */
static void *map_cases(size_t size)
{
	int fd = open("cases", O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	void *map;

	assert_true(fd >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(write(fd, cases[i].code, CODE_BYTES), CODE_BYTES);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	map = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(map != MAP_FAILED);
	close(fd);
	return map;
}

/* The kernel, asked in earnest, is of the same opinion, and so is probe_verify(). */
TEST(test_kernel_agrees)
{
	const size_t size = 4096;
	uint8_t *map = map_cases(size);

	assert_true(sizeof(cases) / sizeof(cases[0]) * CODE_BYTES <= size);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe probe = {.path = (char *)"cases",
				      .symbol = (char *)cases[i].text,
				      .file_offset = i * CODE_BYTES,
				      .layout = arg_layout_within()};
		struct trigger trigger = {.name = (char *)cases[i].text, .probes = &probe, .probe_cnt = 1};
		struct trigger_config config = {.triggers = &trigger, .trigger_cnt = 1, .pid = getpid()};
		struct trigger_set *set = NULL;
		int err;

		memcpy(probe.original, cases[i].code, CODE_BYTES);
		fail_reset();
		err = trigger_set_attach(&set, &config);
		if (err == -EPERM) {
			printf("skipped: %s\n", fail_message(err));
			munmap(map, size);
			skip();
		}
		if (err != (cases[i].obstacle ? -ENOTSUP : 0))
			fail_msg("%s: %s", cases[i].text, fail_message(err));
		if (err)
			assert_non_null(strstr(fail_message(err),
					       "the kernel cannot probe the first instruction of"));
		/* int3 itself looks like a breakpoint, but never gets as far as here. */
		if (cases[i].code[0] != 0xcc)
			assert_int_equal(probe_verify(&probe, map + i * CODE_BYTES, 1), err);
		trigger_set_free(set);
	}
	munmap(map, size);
}

TEST(test_verify)
{
	const struct probe push = {
		.path = (char *)"/exe", .symbol = (char *)"f", .original = {0x55, 0x48, 0x89}};
	const struct probe call = {.path = (char *)"/exe", .symbol = (char *)"f", .original = {0xe8, 0x10}};
	static const uint8_t breakpoint[] = {0xcc}, rel32[] = {0xe8, 0x01, 0x02, 0x03, 0x04};

	assert_ok(probe_verify(&push, breakpoint, sizeof(breakpoint)));
	assert_err(probe_verify(&push, rel32, sizeof(rel32)), -ENOTSUP, "no breakpoint on f in /exe");
	assert_err(probe_verify(&call, rel32, sizeof(rel32)), -ENOTSUP, "no breakpoint on f in /exe");
	assert_err(probe_verify(&push, push.original, 3), -ENOTSUP, "(55 48 89 ...)");
	assert_err(probe_verify(&push, NULL, 0), -ENOTSUP, "no breakpoint");
}

/* A five-byte nop that the function comes back behind: refused where the kernel would make a call of it. */
TEST(test_nop5)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	struct probe probe;
	uint64_t nops, loop;
	int err;

	fixture_build("nop5.s",
		      ".globl nops, loop\n.type nops, @function\n.type loop, @function\n"
		      "nops: .byte 0x0f, 0x1f, 0x44, 0, 0\n.size nops, . - nops\nret\n"
		      "loop: .byte 0x0f, 0x1f, 0x44, 0, 0\n1: dec %edi\njne 1b\nret\n.size loop, . - loop\n",
		      "gcc -nostdlib -shared -o nop5.so nop5.s");
	nops = fixture_symbol("nop5.so", "nops");
	loop = fixture_symbol("nop5.so", "loop");
	assert_ok(elf_file_open(&file, "./nop5.so"));
	assert_ok(probe_init(&probe, file, nops, "nops"));
	assert_true(probe.addr > nops && probe.original[0] != 0x0f);
	probe_release(&probe);
	err = probe_init(&probe, file, loop, "loop");
	if (err) {
		assert_int_equal(err, -ENOTSUP);
		assert_non_null(strstr(fail_message(err), "five-byte nop"));
	} else {
		assert_int_equal(probe.addr, loop);
		probe_release(&probe);
	}
}

TEST_MAIN(fixture_enter, fixture_leave)
