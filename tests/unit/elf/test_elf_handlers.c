/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include "elf/elf_handlers.h"

/* Address of a global symbol. */
static uint64_t addr_of(struct elf_file *file, const char *name)
{
	return fixture_find(file, name)->addr;
}

static void catches(struct elf_file *file, uint64_t call, uint64_t handler, enum landing expected)
{
	assert_int_equal(elf_file_catches(file, call, handler), expected);
}

/*
 * The call-site table is written by hand: exceptions from `first` land at `pad`, those from `second` nowhere,
 * those from `third` at `other`. Labels are functions, to be found by name.
 */
TEST(by_unwinding_tables)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	fixture_build(
		"lsda.s",
		".text\n.globl f, first, second, third, pad, other\n"
		".type f,@function\n.type first,@function\n.type second,@function\n.type third,@function\n"
		".type pad,@function\n.type other,@function\n"
		"f: .cfi_startproc\n .cfi_personality 0x1b, f\n .cfi_lsda 0x1b, table\n"
		"nop\nfirst: call f\nsecond: call f\nthird: call f\nret\npad: nop\nother: ret\n.cfi_endproc\n"
		".section .gcc_except_table,\"a\",@progbits\n"
		"table: .byte 0xff, 0xff, 0x01\n .uleb128 end - begin\n"
		"begin: .uleb128 first - f\n .uleb128 second - first\n .uleb128 pad - f\n .uleb128 1\n"
		" .uleb128 second - f\n .uleb128 third - second\n .uleb128 0\n .uleb128 0\n"
		" .uleb128 third - f\n .uleb128 5\n .uleb128 other - f\n .uleb128 0\nend:\n",
		"gcc -nostdlib -static -o lsda.so lsda.s 2>/dev/null");
	file = fixture_open("lsda.so");
	catches(file, 0, addr_of(file, "pad"), LANDING_YES);
	catches(file, 0, addr_of(file, "first"), LANDING_UNKNOWN);
	catches(file, addr_of(file, "first"), addr_of(file, "pad"), LANDING_YES);
	catches(file, addr_of(file, "first") + 4, addr_of(file, "pad"), LANDING_YES);
	catches(file, addr_of(file, "second"), addr_of(file, "pad"), LANDING_NO);
	catches(file, addr_of(file, "third") + 4, addr_of(file, "other"), LANDING_YES);
	catches(file, addr_of(file, "third") + 5, addr_of(file, "other"), LANDING_NO);
	catches(file, addr_of(file, "third"), addr_of(file, "pad"), LANDING_NO);
}

/*
 * Every landing pad that the C++ compiler says there is: between the calls of a function with a try and its
 * end.
 */
TEST(of_a_compiler)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	const struct elf_handler *handlers;
	const struct elf_symbol *f;
	size_t cnt, inside = 0;

	fixture_build("try.cc",
		      "void g(int);\nextern \"C\" int f(int x) { try { g(x); } catch (int e) { return e; } "
		      "return x; }\n"
		      "void g(int x) { if (x) throw x; }\nint main(int c, char **) { return f(c); }\n",
		      "g++ -O1 -fno-inline -o try try.cc");
	file = fixture_open("try");
	f = fixture_find(file, "f");
	handlers = elf_file_handlers(file, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		assert_true(handlers[i].start < handlers[i].end);
		assert_true(!i || handlers[i - 1].end <= handlers[i].start);
		inside += handlers[i].handler > f->addr && handlers[i].handler < f->addr + f->size;
	}
	assert_int_equal(inside, 1);
}

#define PUSHTRAP(handler) "lea " handler "(%rip), %r11\npush %r11\npush 16(%r14)\nmov %rsp, 16(%r14)\n"
#define POPTRAP		  "pop 16(%r14)\nadd $8, %rsp\n"
#define FUNCTIONS                                                                                    \
	".globl f, a, b, c, outer, inner\n.type a,@function\n.type b,@function\n.type c,@function\n" \
	".type outer,@function\n.type inner,@function\n.type f,@function\n"

/* A try in a try, as ocamlopt compiles it. */
TEST(by_the_shape_of_ocamls_code)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	fixture_build("trap.s",
		      ".text\n" FUNCTIONS "f: nop\n" PUSHTRAP("outer") "a: call f\n" PUSHTRAP(
			      "inner") "b: call f\n" POPTRAP "jmp c\ninner: nop\nc: call f\n" POPTRAP
				       "ret\nouter: ret\n",
		      "gcc -nostdlib -shared -Wl,-Bsymbolic -o trap.so trap.s");
	file = fixture_open("trap.so");
	catches(file, 0, addr_of(file, "outer"), LANDING_YES);
	catches(file, 0, addr_of(file, "c"), LANDING_UNKNOWN);
	catches(file, addr_of(file, "a"), addr_of(file, "outer"), LANDING_YES);
	catches(file, addr_of(file, "b"), addr_of(file, "inner"), LANDING_YES);
	catches(file, addr_of(file, "b"), addr_of(file, "outer"), LANDING_NO);
	catches(file, addr_of(file, "inner"), addr_of(file, "outer"), LANDING_YES);
	catches(file, addr_of(file, "c"), addr_of(file, "outer"), LANDING_YES);
	catches(file, addr_of(file, "f"), addr_of(file, "outer"), LANDING_NO);
}

/* The note says it of code that has no such shape; its addresses are relative to where .stapsdt.base was. */
TEST(by_the_note_of_ocaml)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	fixture_build("note.s",
		      ".text\n" FUNCTIONS "f: nop\na: nop\nb: nop\nc: call f\nnop\ninner: nop\nouter: ret\n"
		      ".section .stapsdt.base,\"a\",@progbits\nbase: .byte 0\n"
		      ".section .note.ocaml_eh,\"\",@note\n.long 6, 3f - 2f, 1\n.asciz \"OCaml\"\n.balign 4\n"
		      "2: .quad base, inner, outer, 0, a, b, 0, 0\n3:\n",
		      "gcc -nostdlib -static -o note note.s 2>/dev/null");
	file = fixture_open("note");
	catches(file, addr_of(file, "c"), addr_of(file, "inner"), LANDING_YES);
	catches(file, addr_of(file, "c"), addr_of(file, "outer"), LANDING_NO);
	catches(file, addr_of(file, "a"), addr_of(file, "outer"), LANDING_YES);
	catches(file, addr_of(file, "f"), addr_of(file, "outer"), LANDING_NO);
}

TEST_MAIN(fixture_enter, fixture_leave)
