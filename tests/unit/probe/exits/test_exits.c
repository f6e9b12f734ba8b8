/* SPDX-License-Identifier: BSD-2-Clause */
/* Where calls end, in functions written so that each has one thing to look out for. */
#include "probe/exits/exits.h"

#include "unit/probe/fixture.h"

static const char source[] =
	".text\n"
	".macro function name\n"
	"	.globl \\name\n"
	"	.type \\name, @function\n"
	"\\name:\n"
	"	.cfi_startproc\n"
	".endm\n"
	".macro finish name\n"
	"	.cfi_endproc\n"
	"	.size \\name, . - \\name\n"
	".endm\n"
	/* A byte like a return instruction inside of another instruction, and one behind the function. */
	"function plain\n mov $0xc3c3c3c3, %eax\n test %edi, %edi\n je 1f\n ret\n1: rep ret\n finish plain\n"
	".byte 0xc3\n"
	/* Data among the instructions, jumped over. */
	"function data\n jmp 1f\n .byte 0xc3, 0x0f\n1: ret\n finish data\n"
	"function cold\n test %edi, %edi\n je cold.cold\n1: ret\n finish cold\n"
	"	.type cold.cold, @function\n"
	"cold.cold:\n .cfi_startproc\n call plain\n cmp $1, %eax\n je 1b\n ret\n .cfi_endproc\n"
	"	.size cold.cold, . - cold.cold\n"
	"function tail\n test %edi, %edi\n jg plain\n jmp data\n finish tail\n"
	"function itself\n endbr64\n dec %edi\n jne itself + 4\n ret\n finish itself\n"
	"function pointer\n mov 8(%rdi), %rax\n jmp *%rax\n finish pointer\n"
	"function imported\n jmp *strlen@GOTPCREL(%rip)\n finish imported\n"
	"function choice\n cmp $1, %edi\n ja 9f\n lea table(%rip), %rdx\n movslq (%rdx,%rdi,4), %rax\n add "
	"%rdx, %rax\n"
	" jmp *%rax\n5: mov $5, %eax\n ret\n6: mov $6, %eax\n9: ret\n finish choice\n"
	/* Its frame is still there, so that it goes to a place of its own whatever is in the register. */
	"function frame\n push %rbx\n .cfi_adjust_cfa_offset 8\n jmp *%rax\n pop %rbx\n "
	".cfi_adjust_cfa_offset -8\n ret\n"
	" finish frame\n"
	"function dirty\n movslq (%rdx,%rdi,4), %rax\n add %rdx, %rax\n jmp *%rax\n .byte 0xc3, 0x06, 0x06\n "
	"finish dirty\n"
	"function endless\n1: pause\n jmp 1b\n finish endless\n"
	"function dies\n call abort@PLT\n finish dies\n"
	"function torn\n test %edi, %edi\n je 1f + 1\n1: mov $0xc3, %eax\n ret\n finish torn\n"
	/* One thread needs no lock: it jumps over the prefix. */
	"function locked\n cmp $0, %edi\n je 1f\n lock\n1: cmpxchg %rcx, (%rdx)\n ret\n finish locked\n"
	/* Code by hand: one goes on in the middle of the other. */
	"function long_way\n mov %rdi, %rax\n long_inner: ret\n finish long_way\n"
	"function short_way\n xor %eax, %eax\n jmp long_inner\n finish short_way\n"
	".globl unsized\n .type unsized, @function\nunsized: ret\n"
	".section .rodata\n"
	"table: .long 5b - table, 6b - table\n";

static struct elf_file *file;

static int set_up(void **state)
{
	if (fixture_enter(state))
		return -1;
	fixture_build("exits.s", source, "gcc -nostdlib -shared -Wl,-Bsymbolic -o exits.so exits.s");
	fixture_run("objcopy --strip-symbol=cold.cold exits.so nameless.so");
	return elf_file_open(&file, "./exits.so");
}

static int tear_down(void **state)
{
	elf_file_close(file);
	return fixture_leave(state);
}

static uint64_t addr_of(const char *name)
{
	const struct elf_symbol *symbol = NULL;

	assert_int_equal(elf_file_find(file, name, &symbol, 1), 1);
	return symbol->addr;
}

/*
 * The exits as text: '*' ADDRESS-OF-FUNCTION+OFFSET for returns, "->TARGET" for jumps, "?CONDITION" for
 * conditional ones.
 */
static void describe(struct elf_file *of, const char *name, char *text, size_t size)
{
	CLEANUP(exits_release) struct exits exits = {0};
	uint64_t addr = addr_of(name);
	size_t len = 0;

	*text = '\0';
	assert_ok(exits_find(of, addr, &exits));
	for (size_t i = 0; i < exits.cnt; i++) {
		const struct exit *exit = &exits.items[i];
		const struct elf_symbol *target = exit->target ? elf_file_symbol_at(of, exit->target) : NULL;

		len += (size_t)snprintf(text + len, size - len, "%s%+lld%s", i ? " " : "",
					(long long)(exit->addr - addr), exit->is_shared ? "s" : "");
		if (exit->kind == EXIT_JUMP)
			len += (size_t)snprintf(text + len, size - len, ">%s", target ? target->name : "");
		if (exit->condition != EXIT_ALWAYS)
			len += (size_t)snprintf(text + len, size - len, "?%d", exit->condition);
	}
}

static void assert_exits(struct elf_file *of, const char *name, const char *wanted)
{
	char text[256];

	describe(of, name, text, sizeof(text));
	if (strcmp(text, wanted))
		fail_msg("%s: '%s', not '%s'", name, text, wanted);
}

TEST(test_exits)
{
	static const struct {
		const char *name, *exits;
	} functions[] = {
		{"plain", "+9 +10"},
		{"data", "+4"},
		{"cold", "+4 +15"},
		{"tail", "+2>plain?15 +4>data"},
		{"itself", "+6>itself?5 +8"},
		{"pointer", "+4>"},
		{"imported", "+0>"},
		{"choice", "+26 +32"},
		{"frame", "+4"},
		{"endless", "+2>endless"},
		{"dies", ""},
		{"locked", "+10"},
		{"long_way", "+3"},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_exits(file, functions[i].name, functions[i].exits);
}

/* A return that two functions share: where it is says whose it is. */
TEST(test_shared)
{
	char text[64];

	describe(file, "short_way", text, sizeof(text));
	assert_non_null(strchr(text, 's'));
}

/* The unwinding tables take the symbol's place. */
TEST(test_nameless_part)
{
	struct elf_file *nameless;

	assert_ok(elf_file_open(&nameless, "./nameless.so"));
	assert_exits(nameless, "cold", "+4 +15");
	elf_file_close(nameless);
}

TEST(test_refused)
{
	static const char *const names[] = {"dirty", "torn"};
	struct exits exits = {0};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (exits_find(file, addr_of(names[i]), &exits) != -ENOTSUP || exits.cnt)
			fail_msg("%s is not refused", names[i]);
	assert_err(exits_find(file, addr_of("unsized"), &exits), -ENOTSUP, "where it ends");
	assert_int_equal(exits.cnt, 0);
	exits_release(&exits);
}

TEST_MAIN(set_up, tear_down)
