/* SPDX-License-Identifier: BSD-2-Clause */
#include <elf.h>

#include "trigger/trigger.h"
#include "unit/probe/fixture.h"

/* ---- programs ---- */

static void build_program(void)
{
	fixture_build("lib.c",
		      "__attribute__((noinline)) static int internal(int x) { return x + 1; }\n"
		      "int in_both(int x) { return x; }\n"
		      "int exported(int x) { return internal(x); }\n",
		      "gcc -O1 -shared -fPIC -o libtrial.so.1 lib.c -Wl,-soname,libtrial.so.1");
	fixture_build("second.c",
		      "__attribute__((noinline)) static int twin(int x) { return x + 2; }\n"
		      "int second(int x) { return twin(x); }\n",
		      "gcc -O1 -fno-ipa-icf -c second.c");
	fixture_build("exe.c",
		      "#include <stdio.h>\n"
		      "int exported(int), second(int);\n"
		      "__attribute__((noinline)) static int twin(int x) { return x * 3; }\n"
		      "int in_both(int x) { return x; }\n"
		      "int compress_block(int x) { return x; }\n"
		      "asm(\".globl locked; .type locked, @function; locked: lock incl (%rdi); ret\\n\"\n"
		      "    \".globl halt; .type halt, @function; halt: hlt; ret\");\n"
		      "int main(void) { puts(\"\"); return exported(1) + second(2) + twin(3); }\n",
		      "gcc -O1 -o exe exe.c second.o libtrial.so.1 -Wl,-rpath,'$ORIGIN'");
	fixture_run("gcc -O1 -no-pie -o fixed exe.c second.o libtrial.so.1 -Wl,-rpath,'$ORIGIN'");
	fixture_run("strip -o stripped exe");
}

static int setup(void **state)
{
	int err = fixture_enter(state);

	if (!err)
		build_program();
	return err;
}

/* ---- helpers ---- */

static struct trigger resolve(const char *spec, const char *exe)
{
	struct trigger trigger;

	assert_ok(trigger_resolve(&trigger, spec, exe, HIT_STOP));
	assert_string_equal(trigger.name, spec);
	assert_int_equal(trigger.action, HIT_STOP);
	return trigger;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

/* The probe is in `file`, and the bytes at its offset there are what it keeps. */
static void assert_probe(const struct probe *probe, const char *file, const char *symbol)
{
	uint8_t bytes[sizeof(probe->original)] = {0};
	FILE *stream = fopen(probe->path, "r");

	assert_non_null(stream);
	assert_int_equal(probe->path[0], '/');
	assert_true(ends_with(probe->path, file));
	assert_string_equal(probe->symbol, symbol);
	assert_int_equal(fseek(stream, (long)probe->file_offset, SEEK_SET), 0);
	assert_true(fread(bytes, 1, sizeof(bytes), stream) > 0);
	assert_memory_equal(bytes, probe->original, sizeof(bytes));
	fclose(stream);
}

static void assert_resolves(const char *spec, const char *exe, const char *file, const char *symbol)
{
	struct trigger trigger = resolve(spec, exe);

	assert_int_equal(trigger.probe_cnt, 1);
	assert_probe(&trigger.probes[0], file, symbol);
	trigger_release(&trigger);
}

#define assert_fails(spec, exe, err, text)                                              \
	do {                                                                            \
		struct trigger _trigger = {.name = (char *)"untouched"};                \
		assert_err(trigger_resolve(&_trigger, spec, exe, HIT_STOP), err, text); \
		assert_string_equal(_trigger.name, "untouched");                        \
	} while (0)

/* ---- where a name is found ---- */

TEST(test_executable)
{
	struct trigger trigger = resolve("compress_block", "./exe");

	assert_int_equal(trigger.probe_cnt, 1);
	assert_probe(&trigger.probes[0], "/exe", "compress_block");
	assert_int_equal(trigger.probes[0].addr, fixture_symbol("exe", "compress_block"));
	trigger_release(&trigger);
	/* Its own definition hides the library's. */
	assert_resolves("in_both", "./exe", "/exe", "in_both");
}

/* Virtual addresses and file offsets differ. */
TEST(test_fixed_address)
{
	struct trigger trigger = resolve("compress_block", "./fixed");

	assert_probe(&trigger.probes[0], "/fixed", "compress_block");
	assert_int_equal(trigger.probes[0].addr, fixture_symbol("fixed", "compress_block"));
	assert_int_equal(trigger.probes[0].file_offset, trigger.probes[0].addr - 0x400000);
	trigger_release(&trigger);
}

TEST(test_libraries)
{
	assert_resolves("exported", "./exe", "/libtrial.so.1", "exported");
	assert_resolves("internal", "./exe", "/libtrial.so.1", "internal");
	/* Imported through the PLT: the definition counts, not the entry. */
	assert_resolves("puts", "./exe", "/libc.so.6", "puts");
	assert_resolves("puts", "./fixed", "/libc.so.6", "puts");
	/* An exported function comes before local ones of libraries that are searched earlier. */
	fixture_build("early.c",
		      "__attribute__((noinline)) static int exported(int x) { return x + 7; }\n"
		      "int early(int x) { return exported(x); }\n",
		      "gcc -O1 -shared -fPIC -o libearly.so early.c");
	fixture_build("order.c",
		      "int early(int), exported(int); int main(void) { return early(1) + exported(2); }",
		      "gcc -o order order.c ./libearly.so ./libtrial.so.1 -Wl,-rpath,'$ORIGIN'");
	assert_resolves("exported", "./order", "/libtrial.so.1", "exported");
}

TEST(test_file_given)
{
	assert_resolves("./libtrial.so.1:in_both", "./exe", "/libtrial.so.1", "in_both");
	assert_resolves("libtrial.so.1:in_both", "./exe", "/libtrial.so.1", "in_both");
	assert_resolves("libtrial:in_both", "./exe", "/libtrial.so.1", "in_both");
	assert_resolves("libc:puts", "./exe", "/libc.so.6", "puts");
	assert_resolves("exe:in_both", "./exe", "/exe", "in_both");
	/* A file right here, though no library of the executable's. */
	assert_resolves("fixed:in_both", "./exe", "/fixed", "in_both");
	/* With a path the executable does not matter. */
	assert_resolves("./libtrial.so.1:in_both", "exe.c", "/libtrial.so.1", "in_both");
}

TEST(test_duplicates)
{
	struct trigger first, second, all;

	assert_fails("twin", "./exe", -EINVAL,
		     "2 different functions in ./exe are called twin: choose one of twin#1");
	assert_fails("twin#3", "./exe", -EINVAL, "has 2 functions called twin, so there is no #3");
	first = resolve("twin#1", "./exe");
	second = resolve("twin#2", "./exe");
	all = resolve("twi[n]", "./exe");
	assert_int_equal(first.probe_cnt + second.probe_cnt, 2);
	assert_probe(&first.probes[0], "/exe", "twin");
	assert_probe(&second.probes[0], "/exe", "twin");
	assert_int_equal(all.probe_cnt, 2);
	assert_int_equal(all.probes[0].file_offset, first.probes[0].file_offset);
	assert_int_equal(all.probes[1].file_offset, second.probes[0].file_offset);
	assert_int_not_equal(first.probes[0].file_offset, second.probes[0].file_offset);
	trigger_release(&first);
	trigger_release(&second);
	trigger_release(&all);
}

/* ---- other spellings ---- */

static void build_places(void)
{
	fixture_build("places.c",
		      "#include <stdio.h>\n"			       /* 1 */
		      "__attribute__((noinline)) int first(int x) {\n" /* 2 */
		      "	puts(\"first\");\n"			       /* 3 */
		      "\n"					       /* 4 */
		      "	return x + 1;\n"			       /* 5 */
		      "}\n"
		      "__attribute__((noinline)) int plain(int x) { asm volatile(\"\"); return x; }\n"
		      "asm(\".pushsection .note.stapsdt, \\\"\\\", \\\"note\\\"; .4byte 8, 1f-0f, 3; .asciz "
		      "\\\"stapsdt\\\";\"\n"
		      "    \"0: .8byte plain, _.stapsdt.base, counter; .asciz \\\"trial\\\"; .asciz "
		      "\\\"hello\\\"; .asciz \\\"-4@%edi\\\";\"\n"
		      "    \"1: .balign 4; .popsection; .pushsection .stapsdt.base, \\\"a\\\"; "
		      "_.stapsdt.base: .byte 0; .popsection\");\n"
		      "unsigned short counter = 7;\n"
		      "int main(void) { return first(1) + plain(2); }\n",
		      "gcc -g -O1 -fcf-protection=full -fno-omit-frame-pointer -o places places.c");
}

TEST(test_endbr64)
{
	struct trigger trigger;

	build_places();
	trigger = resolve("first", "./places");
	/* push %rbp comes next. */
	assert_int_equal(trigger.probes[0].addr, fixture_symbol("places", "first") + 4);
	assert_int_equal(trigger.probes[0].original[0], 0x55);
	assert_string_equal(trigger.probes[0].symbol, "first");
	trigger_release(&trigger);
}

TEST(test_offsets)
{
	uint64_t first = fixture_symbol("places", "first");
	char spec[64];

	assert_resolves("first+4", "./places", "/places", "first+0x4");
	assert_resolves("first+0x5", "./places", "/places", "first+0x5");
	assert_fails("first+1", "./places", -EINVAL, "inside an instruction; the ones beside it begin at");
	assert_fails("first+1000", "./places", -EINVAL, "beyond its end");
	snprintf(spec, sizeof(spec), "0x%lx", first);
	assert_resolves(spec, "./places", "/places", "first");
	snprintf(spec, sizeof(spec), "places:0x%lx", first + 4);
	assert_resolves(spec, "./places", "/places", "first+0x4");
	snprintf(spec, sizeof(spec), "places:0x%lx", first + 2);
	assert_fails(spec, "./places", -EINVAL, "inside an instruction");
	assert_fails("places:0x10", "./places", -ENOENT, "there is no code at 0x10");
	/* Without symbols the unwinding tables tell where functions begin. */
	fixture_run("strip -o places.stripped places");
	snprintf(spec, sizeof(spec), "./places.stripped:0x%lx", first + 4);
	{
		struct trigger trigger = resolve(spec, "./places");

		assert_int_equal(trigger.probes[0].addr, first + 4);
		trigger_release(&trigger);
	}
	snprintf(spec, sizeof(spec), "./places.stripped:0x%lx", first + 2);
	assert_fails(spec, "./places", -EINVAL, "inside an instruction");
}

TEST(test_lines)
{
	struct trigger trigger = resolve("places.c:5", "./places");

	assert_int_equal(trigger.probe_cnt, 1);
	assert_true(trigger.probes[0].addr > fixture_symbol("places", "first"));
	assert_true(trigger.probes[0].addr < fixture_symbol("places", "plain"));
	trigger_release(&trigger);
	assert_resolves("places:places.c:2", "./places", "/places", "first");
	assert_fails("places.c:4", "./places", -ENOENT, "the next line that has some is 5");
	assert_fails("places.c:400", "./places", -ENOENT, "nor for a line after it");
	assert_fails("laces.c:5", "./places", -ENOENT, "no source file 'laces.c'");
	assert_fails("stripped:exe.c:5", "./stripped", -ENOENT, "has no debug information");
}

TEST(test_usdt)
{
	struct trigger trigger = resolve("usdt:trial:hello", "./places");

	assert_int_equal(trigger.probe_cnt, 1);
	assert_int_equal(trigger.probes[0].addr, fixture_symbol("places", "plain"));
	assert_string_equal(trigger.probes[0].symbol, "usdt:trial:hello");
	{
		/* The semaphore's place in the file holds what the program was built with. */
		FILE *stream = fopen("places", "r");
		uint16_t counter;

		assert_non_null(stream);
		assert_int_equal(fseek(stream, (long)trigger.probes[0].ref_ctr_offset, SEEK_SET), 0);
		assert_int_equal(fread(&counter, sizeof(counter), 1, stream), 1);
		assert_int_equal(counter, 7);
		fclose(stream);
	}
	trigger_release(&trigger);
	assert_fails("usdt:trial:bye", "./places", -ENOENT,
		     "no USDT probe trial:bye in ./places or the libraries it needs");
	assert_fails(".", "./places", -ENOENT, "has no marks");
}

TEST(test_patterns)
{
	struct trigger trigger = resolve("*i*", "./places");

	assert_true(trigger.probe_cnt >= 3);
	for (size_t i = 0; i < trigger.probe_cnt; i++)
		assert_non_null(strchr(trigger.probes[i].symbol, 'i'));
	trigger_release(&trigger);
	assert_resolves("firs?", "./places", "/places", "first");
	assert_fails("zzz*", "./places", -ENOENT,
		     "no function in ./places or the libraries it needs matches 'zzz*'");
}

/* Local functions of a stripped file, out of its compressed section. */
TEST(test_minidebug)
{
	fixture_run("objcopy --strip-debug places mini && xz -kf mini && strip -o packed places && "
		    "objcopy --add-section .gnu_debugdata=mini.xz packed");
	assert_resolves("plain", "./packed", "/packed", "plain");
	assert_resolves("first", "./packed", "/packed", "first");
}

TEST(test_static_program)
{
	struct trigger trigger;

	fixture_build("whole.c",
		      "#include <string.h>\n"
		      "char a[99]; int tally(int n) { memcpy(a, a + 50, n); return a[0]; }\n"
		      "int main(int argc, char **argv) { (void)argv; return tally(argc); }\n",
		      "gcc -O1 -static -o whole whole.c");
	assert_resolves("tally", "./whole", "/whole", "tally");
	/* An indirect function: its implementations, none of them the resolver. */
	trigger = resolve("memcpy", "./whole");
	assert_true(trigger.probe_cnt >= 2);
	for (size_t i = 0; i < trigger.probe_cnt; i++) {
		assert_true(!strncmp(trigger.probes[i].symbol, "__mem", 5));
		assert_int_not_equal(trigger.probes[i].addr, fixture_symbol("whole", "memcpy"));
	}
	trigger_release(&trigger);
}

TEST(test_overloads)
{
	struct trigger trigger;

	fixture_build("over.cc",
		      "namespace ns { struct buf { int size; buf(); int fill(int); };\n"
		      "int parse(int x) { return x; } int parse(double x) { return (int)x; } }\n"
		      "ns::buf::buf() : size(3) {} int ns::buf::fill(int x) { return size + x; }\n"
		      "int main() { ns::buf b; return b.fill(1) + ns::parse(1) + ns::parse(1.0); }\n",
		      "g++ -O1 -fno-inline -o over over.cc");
	trigger = resolve("ns::parse", "./over");
	assert_int_equal(trigger.probe_cnt, 2);
	assert_int_equal(trigger.probes[0].addr + trigger.probes[1].addr,
			 fixture_symbol("over", "_ZN2ns5parseEi") + fixture_symbol("over", "_ZN2ns5parseEd"));
	trigger_release(&trigger);
	assert_resolves("ns::parse(double)", "./over", "/over", "ns::parse(double)");
	assert_resolves("_ZN2ns5parseEi", "./over", "/over", "ns::parse(int)");
	assert_resolves("over:ns::buf::fill", "./over", "/over", "ns::buf::fill(int)");
	/* Both constructor symbols stand for one address. */
	assert_resolves("ns::buf::buf", "./over", "/over", "ns::buf::buf()");
	assert_fails("ns::pasre", "./over", -ENOENT, "did you mean ns::parse");
}

TEST(test_versions)
{
	fixture_build("versions.map", "V1 { global: turn; local: *; }; V2 { } V1;", ":");
	fixture_build("turn.c",
		      "__asm__(\".symver turn_old, turn@V1\"); __asm__(\".symver turn_new, turn@@V2\");\n"
		      "int turn_old(void) { return 1; } int turn_new(void) { return 2; }\n",
		      "gcc -O1 -shared -fPIC -o libturn.so turn.c -Wl,--version-script=versions.map && strip "
		      "libturn.so");
	assert_resolves("./libturn.so:turn", "./exe", "/libturn.so", "turn");
	assert_resolves("./libturn.so:turn@V1", "./exe", "/libturn.so", "turn");
	assert_resolves("./libturn.so:turn@@V2", "./exe", "/libturn.so", "turn");
	{
		struct trigger bare = resolve("./libturn.so:turn", "./exe");
		struct trigger first = resolve("./libturn.so:turn@V1", "./exe");
		struct trigger second = resolve("./libturn.so:turn@V2", "./exe");

		assert_int_equal(bare.probes[0].addr, second.probes[0].addr);
		assert_int_not_equal(bare.probes[0].addr, first.probes[0].addr);
		trigger_release(&bare);
		trigger_release(&first);
		trigger_release(&second);
	}
}

/* ---- refusals ---- */

TEST(test_not_found)
{
	assert_fails("compres_block", "./exe", -ENOENT, "did you mean compress_block");
	assert_fails("compres_block", "./exe", -ENOENT, "./exe or the libraries it needs");
	assert_fails("./libtrial.so.1:exportet", "./exe", -ENOENT,
		     "in ./libtrial.so.1; did you mean exported");
	assert_fails("qqqqqqqqqqqqqqqqqqqqqqqq", "./exe", -ENOENT, "no function 'qqqqqqqqqqqqqqqqqqqqqqqq'");
	assert_null(strstr(fail_message(-ENOENT), "did you mean"));
	assert_null(strstr(fail_message(-ENOENT), "stripped"));
	assert_fails("compress_block", "./stripped", -ENOENT, "stripped");
	assert_fails("qqqqqqqqqqqqqqqqqqqqqqqq", "./stripped", -ENOENT, "needs. The missing symbols ");
	assert_fails("exportet", "./stripped", -ENOENT, "did you mean exported? The missing symbols ");
	assert_fails("libnowhere:f", "./exe", -ENOENT, "libnowhere");
	assert_fails("./nowhere.so:f", "./exe", -ENOENT, "./nowhere.so");
	assert_fails("main", "./nowhere", -ENOENT, "./nowhere");
}

/* No more than five names are offered. */
TEST(test_near_matches_are_few)
{
	size_t commas = 0;

	fixture_build("many.c",
		      "#define F(n) int handler_##n(void) { return n; }\n"
		      "F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) int main(void) { return 0; }\n",
		      "gcc -O1 -o many many.c");
	assert_fails("handler_", "./many", -ENOENT, "did you mean handler_");
	for (const char *at = strstr(fail_message(-ENOENT), "did you mean"); (at = strchr(at, ',')); at++)
		commas++;
	assert_int_equal(commas, 4);
}

TEST(test_other_files)
{
	assert_fails("main", "exe.c", -ENOEXEC, "exe.c is not an ELF file");
	assert_fails("./exe.c:main", "./exe", -ENOEXEC, "exe.c is not an ELF file");
	fixture_build("small.c", "int main(void) { return 0; }", "gcc -m32 -c -o small.o small.c");
	assert_fails("main", "./small.o", -ENOTSUP, "32-bit");
	assert_fails(":main", "./exe", -EINVAL, "give SYMBOL, FILE:SYMBOL");
	assert_fails("", "./exe", -EINVAL, "give SYMBOL, FILE:SYMBOL");
}

TEST(test_instructions_refused)
{
	assert_fails("locked", "./exe", -ENOTSUP,
		     "cannot probe locked in ./exe: its first instruction has a lock");
	assert_fails("halt", "./exe", -ENOTSUP, "allows no probe on");
}

TEST(test_indirect_function_unknown)
{
	fixture_build(
		"opaque.c",
		"static int one(void) { return 1; } static void *choose(void) { return (void *)one; }\n"
		"int opaque(void) __attribute__((ifunc(\"choose\"))); int main(void) { return opaque(); }\n",
		"gcc -o opaque opaque.c");
	assert_fails("opaque", "./opaque", -ENOTSUP, "indirect function");
}

TEST_MAIN(setup, fixture_leave)
