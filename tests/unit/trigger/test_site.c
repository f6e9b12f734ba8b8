/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a probe goes in functions that begin in many ways, and where they lead. */
#include "trigger/site.h"

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
	"function on_stack\n movq $0, -8(%rsp)\n je 1f\n1: ret\n finish on_stack\n"
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

static void test_cheapest(void **state)
{
	static const struct {
		const char *name;
		uint64_t offset;
	} places[] = {
		{"pushes", 0}, /* emulated as it is */
		{"tests", 3},  /* the jump */
		{"endbr", 4},  /* the push */
		{"scratch", 14}, /* mov, lea and cmp leave the arguments alone; it jumps to its own beginning, as a call would */
		{"argument", 0}, /* the first argument is another one behind mov */
		{"low_half", 0}, /* the upper half of a register changes, too */
		{"stack", 0},	 {"on_stack", 0}, {"loop", 0}, /* the jump is come to again */
		{"indirect", 0},			       /* single-stepped anyway */
		{"sixteen", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const struct elf_symbol *symbol = function(places[i].name);

		if (site_cheapest(file, symbol) != symbol->addr + places[i].offset)
			fail_msg("%s: +%llu", places[i].name,
				 (unsigned long long)(site_cheapest(file, symbol) - symbol->addr));
	}
}

static void test_off_nop5(void **state)
{
	static const struct {
		const char *name;
		uint64_t offset;
		int err;
	} places[] = {
		{"short_nop", 0, 0}, {"five", 5, 0},	       {"five_twice", 10, 0},
		{"skipped", 5, 0},   {"come_to", 0, -ENOTSUP},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint64_t addr = function(places[i].name)->addr, place = addr;

		assert_int_equal(site_off_nop5(file, addr, &place), places[i].err);
		assert_int_equal(place, addr + places[i].offset);
	}
}

static void test_leads_to(void **state)
{
	uint64_t target;

	(void)state;
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

static void test_targets(void **state)
{
	size_t cnts[4] = {0};
	struct elf_symbol endless = *function("calls");

	(void)state;
	assert_ok(site_each_target(file, function("calls"), count_target, cnts));
	assert_int_equal(cnts[0], 1);
	assert_int_equal(cnts[1], 1);
	assert_int_equal(cnts[2], 1);
	assert_int_equal(cnts[3], 3);
	assert_int_equal(site_each_target(file, function("calls"), stop, NULL), 7);
	endless.size = 0;
	assert_int_equal(site_each_target(file, &endless, count_target, cnts), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cheapest),
		cmocka_unit_test(test_off_nop5),
		cmocka_unit_test(test_leads_to),
		cmocka_unit_test(test_targets),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
