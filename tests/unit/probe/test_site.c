/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a probe goes in functions that begin in many ways, and where they lead. */
#include "probe/site.h"

#include "arch/arch.h"
#include "fixture.h"

static const char source[] =
	".text\n"
	".macro function name\n"
	"	.globl \\name\n"
	"	.type \\name, @function\n"
	"\\name:\n"
	".endm\n"
	".macro finish name\n"
	"	.size \\name, . - \\name\n"
	".endm\n"
	"function pushes\n push %rbp\n pop %rbp\n ret\n finish pushes\n"
	"function tests\n test %rdi, %rdi\n je 1f\n nop\n1: ret\n finish tests\n"
	"function endbr\n endbr64\n push %rbx\n pop %rbx\n ret\n finish endbr\n"
	"function scratch\n mov %rdi, %rax\n lea 7(%rsi), %r10\n cmpb $0, pushes(%rip)\n jne scratch\n ret\n "
	"finish scratch\n"
	"function argument\n mov %rsi, %rdi\n push %rbp\n pop %rbp\n ret\n finish argument\n"
	"function low_half\n xor %edx, %edx\n je 1f\n1: ret\n finish low_half\n"
	"function stack\n sub $24, %rsp\n je 1f\n1: add $24, %rsp\n ret\n finish stack\n"
	"function frame\n lea -0x120(%rsp), %rsp\n add $8, %rsp\n je 1f\n1: add $0x118, %rsp\n ret\n finish "
	"frame\n"
	"function aligned\n and $-32, %rsp\n je 1f\n1: ret\n finish aligned\n"
	"function moves\n mov %rdi, %rsi\n mov (%rax), %rdi\n je 1f\n1: ret\n finish moves\n"
	"function moves_twice\n mov %rdi, %rax\n mov %rax, %r12\n xor %edi, %edi\n je 1f\n1: ret\n finish "
	"moves_twice\n"
	"function moves_half\n mov %edi, %esi\n xor %edi, %edi\n je 1f\n1: ret\n finish moves_half\n"
	"function loop\n mov %rdi, %rax\n1: test %rax, %rax\n je 2f\n dec %rax\n jmp 1b\n2: ret\n finish "
	"loop\n"
	"function sixteen\n test %rdi, %rdi\n .byte 0x66\n je 1f\n1: ret\n finish sixteen\n"
	"function indirect\n test %rdi, %rdi\n jmp *%rax\n finish indirect\n"
	"function hands_on\n mov %rdi, %rsi\n mov $1, %edi\n jmp pushes\n finish hands_on\n"
	"function calls\n push %rbx\n call pushes\n call tests\n pop %rbx\n jmp endbr\n finish calls\n"
	".macro nop5\n .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n .endm\n"
	"function short_nop\n nopl (%rax)\n ret\n finish short_nop\n"
	"function five\n nop5\n ret\n finish five\n"
	"function five_twice\n nop5\n .byte 0x66, 0x66, 0x66, 0x66, 0x90\n push %rbp\n pop %rbp\n ret\n"
	"finish five_twice\n"
	"function skipped\n nop5\n je 1f\n nop\n1: ret\n finish skipped\n"
	"function come_to\n nop5\n1: dec %edi\n jne 1b\n ret\n finish come_to\n";

static struct elf_file *file;

static int set_up(void **state)
{
	if (fixture_enter(state))
		return -1;
	fixture_build("site.s", source, "gcc -nostdlib -shared -Wl,-Bsymbolic -o site.so site.s");
	return elf_file_open(&file, "./site.so");
}

static int tear_down(void **state)
{
	elf_file_close(file);
	return fixture_leave(state);
}

static const struct elf_symbol *function(const char *name)
{
	const struct elf_symbol *symbol = NULL;

	assert_int_equal(elf_file_find(file, name, &symbol, 1), 1);
	return symbol;
}

enum { FIRST = 1, SECOND = 2 };

TEST(test_cheapest)
{
	static const struct {
		const char *name;
		uint32_t args;
		bool keeps_stack;
		uint32_t offset, pushed;
		bool is_emulated;
	} places[] = {
		{"pushes", SITE_ALL_ARGS, true, 0, 0, true}, /* as it is */
		{"tests", SITE_ALL_ARGS, true, 3, 0, true},  /* the jump */
		{"endbr", SITE_ALL_ARGS, true, 4, 0, true},  /* the push */
		/*
		 * mov, lea and cmp leave the arguments alone; it jumps to its own beginning, as a call would
		 */
		{"scratch", SITE_ALL_ARGS, true, 14, 0, true},
		/* the first argument is another one behind mov, but not the second */
		{"argument", SITE_ALL_ARGS, true, 0, 0, false},
		{"argument", FIRST, true, 0, 0, false},
		{"argument", SECOND, true, 3, 0, true},
		{"low_half", SITE_ALL_ARGS, true, 0, 0, false}, /* the upper half changes, too */
		{"moves", FIRST, true, 6, 0, true},
		{"moves", FIRST | SECOND, true, 0, 0, false},
		{"moves_twice", FIRST, true, 8, 0, true},
		{"moves_half", FIRST, true, 0, 0, false},
		{"stack", SITE_ALL_ARGS, true, 0, 0, false},
		{"stack", SITE_ALL_ARGS, false, 4, 24, true},
		{"frame", SITE_ALL_ARGS, false, 12, 0x118, true},
		{"aligned", SITE_ALL_ARGS, false, 0, 0, false}, /* by how much is not known */
		{"loop", SITE_ALL_ARGS, false, 0, 0, false},	/* the jump is come to again */
		{"indirect", SITE_ALL_ARGS, false, 0, 0, false},
		{"sixteen", SITE_ALL_ARGS, false, 0, 0, false},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const struct elf_symbol *symbol = function(places[i].name);
		struct site site = site_cheapest(file, symbol, places[i].args, places[i].keeps_stack);

		if (site.addr != symbol->addr + places[i].offset || site.pushed != places[i].pushed ||
		    site.is_emulated != places[i].is_emulated)
			fail_msg("%s: +%llu, %u bytes lower", places[i].name,
				 (unsigned long long)(site.addr - symbol->addr), site.pushed);
	}
}

/* Where arguments are at the place. */
TEST(test_args)
{
	struct site site;

	site = site_cheapest(file, function("tests"), FIRST | SECOND, true);
	assert_int_equal(site.args[0], HIT_RDI);
	assert_int_equal(site.args[1], HIT_RSI);
	site = site_cheapest(file, function("moves"), FIRST, true);
	assert_int_equal(site.args[0], HIT_RSI);
	site = site_cheapest(file, function("moves_twice"), FIRST, true);
	assert_int_equal(site.args[0], HIT_R12);
	site = site_cheapest(file, function("moves_half"), FIRST, true);
	assert_int_equal(site.args[0], HIT_RDI);
}

TEST(test_off_nop5)
{
	static const struct {
		const char *name;
		uint64_t offset;
		int err;
	} places[] = {
		{"short_nop", 0, 0}, {"five", 5, 0},	       {"five_twice", 10, 0},
		{"skipped", 5, 0},   {"come_to", 0, -ENOTSUP},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint64_t addr = function(places[i].name)->addr, place = addr;

		assert_int_equal(site_off_nop5(file, addr, &place), places[i].err);
		assert_int_equal(place, addr + places[i].offset);
	}
}

TEST(test_leads_to)
{
	uint64_t target;

	assert_true(site_leads_to(file, function("hands_on")->addr, &target));
	assert_int_equal(target, function("pushes")->addr);
	assert_false(site_leads_to(file, function("calls")->addr, &target));
	assert_false(site_leads_to(file, function("indirect")->addr, &target));
	assert_false(site_leads_to(file, function("pushes")->addr, &target));
}

static int count_target(void *ctx, uint64_t target)
{
	size_t *cnts = ctx;

	cnts[0] += target == function("pushes")->addr;
	cnts[1] += target == function("tests")->addr;
	cnts[2] += target == function("endbr")->addr;
	cnts[3]++;
	return 0;
}

static int stop(void *ctx, uint64_t target)
{
	(void)ctx;
	(void)target;
	return 7;
}

TEST(test_targets)
{
	size_t cnts[4] = {0};
	struct elf_symbol endless = *function("calls");

	assert_ok(site_each_target(file, function("calls"), count_target, cnts));
	assert_int_equal(cnts[0], 1);
	assert_int_equal(cnts[1], 1);
	assert_int_equal(cnts[2], 1);
	assert_int_equal(cnts[3], 3);
	assert_int_equal(site_each_target(file, function("calls"), stop, NULL), 7);
	endless.size = 0;
	assert_int_equal(site_each_target(file, &endless, count_target, cnts), -ENOENT);
}

TEST_MAIN(set_up, tear_down)
