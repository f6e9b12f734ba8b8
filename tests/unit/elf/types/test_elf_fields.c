/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/types/elf_fields.h"

#include "base/array.h"
#include "unit/elf/fixture.h"

static const char c_source[] =
	"#include <stdint.h>\n"
	"struct conn; struct inner { uint16_t a, b; };\n"
	"typedef struct { int x; struct conn *conn; } request_t;\n"
	"enum e { E0, E1, E_HIGH = 200 }; enum { E_MINUS = -2 };\n"
	"struct big { long a, b, c; };\n"
	"struct all { int8_t s8; uint64_t u64; union { int i; struct { short lo, hi; }; }; struct inner in;\n"
	"	unsigned low : 5, bits : 3; double real; char name[16]; int rows[2][3]; const char *text; "
	"enum e e; "
	"void *any;\n"
	"	struct all *next; _Bool flag; const int *const *deep; struct nowhere *hidden;\n"
	"	struct { char c; long wide : 40; unsigned long more : 20; int : 0; int minus : 7; }\n"
	"	__attribute__((packed)) tight; };\n"
	"#define FN __attribute__((noipa))\n"
	"FN int plain(const request_t *const r, struct all *all, int n, const char *text)\n"
	"{ return r->x + all->s8 + n + *text; }\n"
	"FN int floats(double d, struct all *all) { return (int)d + all->s8 - E_MINUS; }\n"
	"FN struct big large(struct all *all) { return (struct big){all->s8, 2, 3}; }\n"
	"FN double real(struct all *all) { return all->real; }\n"
	"FN int by_value(struct inner in, struct all *all) { return in.a + all->s8; }\n"
	"int main(void) { struct all all = {0}; request_t r = {0};\n"
	"	return plain(&r, &all, 1, \"x\") + floats(real(&all), &all) + (int)large(&all).a + "
	"by_value(all.in, "
	"&all); }\n";

static const char conn_source[] = "struct conn { long id; int fd; };\nstruct conn the_conn;\n";

static const char cpp_source[] =
	"namespace net { struct base { long b; short fd; }; struct addr { int port; }; struct "
	"string { string(const string &); char *p; };\n"
	"struct peer : base { int fd; addr *to; peer(); int send(const addr &where, "
	"peer *&&other); string name(); }; }\n"
	"net::peer::peer() : fd(3), to(0) {}\n"
	"__attribute__((noipa)) int net::peer::send(const addr &where, peer *&&) { "
	"return where.port + fd; }\n"
	"int main() { net::peer p; net::addr a = {1}; return p.send(a, &p); }\n";

static int find(struct elf_file *file, const char *function, unsigned int nth, const char *path,
		struct elf_field *ret_field)
{
	return elf_file_find_field(file, fixture_find(file, function)->addr, function, nth, path, ret_field);
}

/* depth counts an array, too */
static void assert_field(struct elf_file *file, const char *function, unsigned int nth, const char *path,
			 uint64_t offset, int size, int depth)
{
	struct elf_field field;

	assert_ok(find(file, function, nth, path, &field));
	assert_int_equal(field.offsets[field.cnt - 1], offset);
	assert_int_equal(field.is_signed ? -field.size : field.size, size);
	assert_int_equal(field.depth, depth);
}

static void assert_bits(struct elf_file *file, const char *path, uint64_t bit, int bit_cnt)
{
	struct elf_field field;

	assert_ok(find(file, "plain", 1, path, &field));
	assert_int_equal(8 * field.offsets[0] + field.bit_shift, bit);
	assert_int_equal(field.is_signed ? -field.bit_cnt : field.bit_cnt, bit_cnt);
	assert_true(field.bit_shift + field.bit_cnt <= 8 * field.size);
}

static int find_name(struct elf_file *file, const char *function, const char *name, struct elf_name *ret_name)
{
	return elf_file_find_name(file, fixture_find(file, function)->addr, function, name, ret_name);
}

static void assert_parameter(struct elf_file *file, const char *function, const char *name, unsigned int nth)
{
	struct elf_name found;

	assert_ok(find_name(file, function, name, &found));
	assert_false(found.is_constant);
	assert_int_equal(found.nth, nth);
}

static void assert_constant(struct elf_file *file, const char *function, const char *name, int64_t constant)
{
	struct elf_name found;

	assert_ok(find_name(file, function, name, &found));
	assert_true(found.is_constant);
	assert_int_equal((int64_t)found.constant, constant);
}

static void check_c_names(struct elf_file *file)
{
	struct elf_field field;
	struct elf_name name;

	assert_parameter(file, "plain", "r", 0);
	assert_parameter(file, "plain", "text", 3);
	assert_parameter(file, "floats", "all", 0);
	assert_parameter(file, "large", "all", 1);
	assert_constant(file, "plain", "E1", 1);
	assert_constant(file, "by_value", "E_HIGH", 200);
	assert_constant(file, "floats", "E_MINUS", -2);
	assert_err(find_name(file, "plain", "txt", &name), -ENOENT,
		   "'txt' is unknown: no enum in the source of plain has it, and the parameters there are: "
		   "r, all, n, text");
	assert_err(find_name(file, "floats", "d", &name), -EINVAL,
		   "'d' of floats is a floating-point number");
	assert_parameter(file, "by_value", "all", 1);
	/* a struct in registers */
	assert_parameter(file, "by_value", "in", 0);
	assert_err(find(file, "by_value", 0, "", &field), -EINVAL, "name a field of it with '.'");
	/* its own type */
	assert_ok(find(file, "plain", 2, "", &field));
	assert_true(field.size == 4 && field.is_signed && !field.depth);
	assert_ok(find(file, "plain", 3, "", &field));
	assert_true(field.size == 1 && field.depth == 1);
}

static void check_c(const char *flags)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	struct elf_field field;
	char command[128];

	snprintf(command, sizeof(command), "gcc %s -o fields fields.c conn.c", flags);
	fixture_write("conn.c", conn_source, strlen(conn_source));
	fixture_build("fields.c", c_source, command);
	file = fixture_open("fields");
	check_c_names(file);
	assert_field(file, "plain", 0, "->x", 0, -4, 0);
	assert_ok(find(file, "plain", 0, "->conn->fd", &field));
	assert_int_equal(field.cnt, 2);
	assert_int_equal(field.offsets[0], 8);
	assert_int_equal(field.offsets[1], 8);
	assert_field(file, "plain", 1, "->s8", 0, -1, 0);
	assert_field(file, "plain", 1, "->u64", 8, 8, 0);
	assert_field(file, "plain", 1, "->hi", 18, -2, 0);
	assert_field(file, "plain", 1, "->in.b", 22, 2, 0);
	assert_field(file, "plain", 1, "->next->next->in.b", 22, 2, 0);
	assert_field(file, "plain", 1, "->name", 40, -1, 1);
	assert_field(file, "plain", 1, "->text", 80, -1, 1);
	assert_field(file, "plain", 1, "->e", 88, 4, 0);
	assert_field(file, "plain", 1, "->any", 96, 0, 1);
	assert_field(file, "plain", 1, "->next", 104, 0, 1);
	assert_field(file, "plain", 1, "->flag", 112, 1, 0);
	assert_field(file, "plain", 1, "->deep", 120, -4, 2);
	assert_bits(file, "->low", 8 * 24, 5);
	assert_bits(file, "->bits", 8 * 24 + 5, 3);
	assert_bits(file, "->tight.wide", 8 * 137, -40);
	assert_bits(file, "->tight.more", 8 * 142, 20);
	assert_bits(file, "->tight.minus", 8 * 148, -7);
	assert_field(file, "floats", 0, "->u64", 8, 8, 0);
	assert_field(file, "large", 1, "->u64", 8, 8, 0);
	assert_err(find(file, "plain", 1, "->real", &field), -EINVAL, "double");
	assert_err(find(file, "plain", 1, "->rows", &field), -EINVAL, "int[]");
	assert_err(find(file, "plain", 1, "->in", &field), -EINVAL, "name a field of it");
	assert_err(find(file, "plain", 1, "->in->b", &field), -EINVAL, "write '.'");
	assert_err(find(file, "plain", 1, "->next.b", &field), -EINVAL, "write '->'");
	assert_err(find(file, "plain", 1, "->hidden->x", &field), -ENOENT,
		   "declares struct nowhere *, but this file has no single definition");
	assert_err(find(file, "plain", 1, "->in.c", &field), -ENOENT,
		   "struct inner has no field 'c' that can be read: it has a, b");
	assert_err(find(file, "plain", 2, "->x", &field), -EINVAL,
		   "arg2 is of the type int, not a pointer to a struct");
	assert_err(find(file, "plain", 3, "->x", &field), -EINVAL, "arg3 is of the type char *");
	assert_err(find(file, "plain", 4, "->x", &field), -ENOENT, "plain has no arg4");
	assert_err(find(file, "floats", 1, "->s8", &field), -ENOENT, "in vector registers");
	assert_err(elf_file_check_argument(file, fixture_find(file, "floats")->addr, "floats", 1), -ENOENT,
		   "floats has no arg1");
	assert_ok(elf_file_check_argument(file, fixture_find(file, "floats")->addr, "floats", 0));
	assert_ok(elf_file_check_argument(file, fixture_find(file, "plain")->addr, "plain", 5));
	assert_err(elf_file_check_result(file, fixture_find(file, "real")->addr, "real"), -EINVAL,
		   "real returns a double");
	assert_ok(elf_file_check_result(file, fixture_find(file, "floats")->addr, "floats"));
	assert_ok(find(file, "by_value", 0, ".a", &field));
	assert_true(field.in_register && !field.skip && !field.shift);
	assert_ok(find(file, "by_value", 1, "->s8", &field));
}

TEST(test_c)
{
	check_c("-g -O2");
	check_c("-gdwarf-4 -O0");
}

TEST(test_cpp)
{
	static const char send[] = "net::peer::send";
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	struct elf_field field;

	fixture_build("fields.cc", cpp_source, "g++ -g -O1 -o cpp fields.cc");
	file = fixture_open("cpp");
	assert_field(file, send, 0, "->fd", 16, -4, 0);
	assert_field(file, send, 0, "->b", 0, -8, 0);
	assert_field(file, send, 0, "->to->port", 0, -4, 0);
	assert_field(file, send, 1, ".port", 0, -4, 0);
	assert_parameter(file, send, "this", 0);
	assert_parameter(file, send, "where", 1);
	assert_err(find(file, send, 0, "->nothing", &field), -ENOENT, "it has b, fd, fd, to");
}

/* What is dropped by the compiler moves the others up. Lists of places are compressed where they are many. */
TEST(test_dropped_parameters)
{
	static const char source[] =
		"struct s { int a, b; };\n"
		"static __attribute__((noinline)) int drop(struct s *unused, struct s *x, struct s *y)\n"
		"{ int a = x->a; __asm__ volatile(\"\" ::: \"rdi\", \"rsi\"); return a + y->b; }\n"
		"#define F(f) int f(struct s *x) { int a = drop(0, x, x); return a + drop(0, x + a, x); }\n"
		"#define ALL(f) F(f##0) F(f##1) F(f##2) F(f##3) F(f##4) F(f##5) F(f##6) F(f##7)\n"
		"ALL(f) ALL(g) ALL(h)\n"
		"int main(int n, char **v) { struct s s = {n, 2}; return drop(0, &s, (struct s *)v); }\n";
	static const char *const commands[] = {"clang -g -O2 -o drop drop.c",
					       "clang -g -gz -O2 -o drop drop.c"};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		CLEANUP(elf_file_closep) struct elf_file *file = NULL;
		struct elf_field field;
		struct elf_name name;

		fixture_build("drop.c", source, commands[i]);
		file = fixture_open("drop");
		assert_err(find_name(file, "drop", "x", &name), -EINVAL, "changed its parameters");
		for (unsigned int nth = 0; nth < 2; nth++)
			assert_err(find(file, "drop", nth, "->a", &field), -EINVAL, "changed its parameters");
	}
}

TEST(test_rust)
{
	static const char source[] =
		"pub struct Inner { pub a: u16, pub b: i8 }\n"
		"#[repr(C)] pub struct Outer { pub len: u64, pub inner: Inner, pub next: Option<Box<Inner>> "
		"}\n"
		"#[inline(never)] #[no_mangle] pub fn look(real: f64, outer: &Outer) -> u64 {\n"
		"	outer.len + real as u64 }\n"
		"#[inline(never)] #[no_mangle] pub fn text(text: &str, outer: &Outer) -> u64 {\n"
		"	text.len() as u64 + outer.len }\n"
		"fn main() { let o = Outer { len: 3, inner: Inner { a: 1, b: -1 }, next: None };\n"
		"	println!(\"{}\", look(2.5, &o) + text(\"x\", &o)); }\n";
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	struct elf_field field;

	fixture_build("fields.rs", source, "rustc -g -O -o rust fields.rs");
	file = fixture_open("rust");
	assert_field(file, "look", 0, "->len", 0, 8, 0);
	assert_parameter(file, "look", "outer", 0);
	assert_err(find(file, "look", 1, "->len", &field), -ENOENT, "in vector registers");
	/* A slice is two registers. */
	assert_parameter(file, "text", "text", 0);
	assert_ok(find(file, "text", 0, "", &field));
	assert_true(field.size == 1 && field.depth == 1);
	assert_parameter(file, "text", "outer", 2);
	assert_field(file, "text", 2, "->len", 0, 8, 0);
	assert_err(find(file, "text", 1, "->len", &field), -EINVAL, "a part of one");
	assert_err(find(file, "look", 0, "->next", &field), -EINVAL, "only integers, pointers");
}

static int add_kind(void *ctx, const struct elf_parameter *parameter)
{
	char *text = ctx;

	sprintf(text + strlen(text), "%s%d ", parameter->name, (int)parameter->kind);
	return 0;
}

static int add_field(void *ctx, const char *name)
{
	char *text = ctx;

	sprintf(text + strlen(text), "%s ", name);
	return 0;
}

TEST(test_listed)
{
	static const char source[] =
		"enum e { A = -2, B = 7 };\n"
		"struct s { int a; union { int b; struct { enum e c; }; }; struct s *d; volatile int v; };\n"
		"int g(volatile struct s *s) { return s->a; }\n"
		"enum e f(struct s *s, double, float r, enum e e) { return s->a + r > 1 ? e : A; }\n"
		"int main(void) { struct s s = {0}; return f(&s, 1, 2, B) + g(&s); }\n";
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	CLEANUP(elf_enum_freep) struct elf_enum *constants = NULL;
	char text[128] = "";
	uint64_t addr;

	fixture_build("listed.c", source, "gcc -g -O -std=c2x -fno-inline -o listed listed.c");
	file = fixture_open("listed");
	addr = fixture_find(file, "f")->addr;
	assert_ok(elf_file_each_parameter(file, addr, add_kind, text));
	assert_string_equal(text, "s0 r2 e0 ");
	text[0] = '\0';
	assert_ok(elf_file_each_field(file, addr, 0, add_field, text));
	assert_string_equal(text, "->a ->b ->c ->d ");
	assert_ok(elf_file_each_field(file, addr, 1, add_field, text));
	assert_string_equal(text, "->a ->b ->c ->d ");
	assert_ok(elf_file_each_field(file, fixture_find(file, "g")->addr, 0, add_field, text));
	assert_string_equal(text, "->a ->b ->c ->d ");
	assert_ok(elf_file_find_enum(file, addr, "f", 0, "->a", &constants));
	assert_null(constants);
	assert_ok(elf_file_find_enum(file, addr, "f", ELF_RESULT, "", &constants));
	assert_int_equal(constants->cnt, 2);
	assert_string_equal(constants->constants[0].name, "A");
	assert_true((int64_t)constants->constants[0].value == -2);
}

/* The parameter behind a struct by value: which integer argument it is, as the compiler has it. */
TEST(test_structs_by_value)
{
	static const char source[] =
		"#include <string>\n"
		"struct two { long a, b; }; struct mixed { double d; int i; }; struct floats { float a, b; "
		"};\n"
		"struct big { long a[3]; }; struct bits { unsigned a : 3; long b : 40; };\n"
		"struct __attribute__((packed)) tight { char c; long l; }; struct empty {};\n"
		"struct array { short s[3]; char c; }; struct inside { two t; }; union either { double d; "
		"long l; };\n"
		"struct owner { long l; ~owner(); owner(const owner &); owner(); }; struct derived : two "
		"{};\n"
		"#define F(name, type) __attribute__((noipa)) int name(type s, int n) { (void)s; return n; "
		"}\n"
		"F(of_two, two) F(of_mixed, mixed) F(of_floats, floats) F(of_big, big) F(of_bits, bits)\n"
		"F(of_tight, tight) F(of_empty, empty) F(of_array, array) F(of_inside, inside)\n"
		"F(of_either, either) F(of_owner, owner) F(of_string, std::string) F(of_derived, derived)\n"
		"F(of_int128, __int128)\n"
		"__attribute__((noipa)) int late(int, int, int, int, int, two t, int n) { return n + t.a; }\n"
		"owner::owner() : l(1) {} owner::owner(const owner &) : l(2) {} owner::~owner() {}\n"
		"int main() { owner o; return of_two({}, 1) + of_mixed({}, 1) + of_floats({}, 1) + "
		"of_big({}, 1)\n"
		"	+ of_bits({}, 1) + of_tight({}, 1) + of_empty({}, 1) + of_array({}, 1)\n"
		"	+ of_inside({}, 1) + of_either({}, 1) + of_owner(o, 1) + of_string(\"\", 1)\n"
		"	+ of_derived({}, 1) + of_int128(0, 1) + late(1, 2, 3, 4, 5, {}, 6); }\n";
	static const struct {
		const char *function;
		unsigned int nth;
	} cases[] = {{"of_two", 2},   {"of_mixed", 1},	{"of_floats", 0},  {"of_big", 0},    {"of_bits", 1},
		     {"of_tight", 0}, {"of_empty", 0},	{"of_array", 1},   {"of_inside", 2}, {"of_either", 1},
		     {"of_owner", 1}, {"of_string", 1}, {"of_derived", 2}, {"of_int128", 2}, {"late", 5}};
	static const char *const compilers[] = {"g++ -g -O2 -std=c++17 -o by_value by_value.cc",
						"g++ -g -gsplit-dwarf -O2 -std=c++17 -o by_value by_value.cc",
						"g++ -g -flto -O1 -std=c++17 -o by_value by_value.cc",
						"g++ -g -O0 -std=c++17 -o by_value by_value.cc"};

	for (size_t i = 0; i < ARRAY_SIZE(compilers); i++) {
		CLEANUP(elf_file_closep) struct elf_file *file = NULL;
		struct elf_field field;

		fixture_build("by_value.cc", source, compilers[i]);
		file = fixture_open("by_value");
		for (size_t j = 0; j < ARRAY_SIZE(cases); j++)
			assert_parameter(file, cases[j].function, "n", cases[j].nth);
		assert_parameter(file, "of_string", "s", 0);
		assert_ok(find(file, "of_string", 0, "", &field));
		assert_true(field.is_text && field.cnt == 1);
		assert_field(file, "of_owner", 0, ".l", 0, -8, 0);
	}
}

TEST(test_no_debug_information)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;
	struct elf_field field;
	struct elf_name name;

	fixture_build("plain.c", "int main(void) { return 0; }\n", "gcc -o plain plain.c");
	file = fixture_open("plain");
	assert_err(find(file, "main", 0, "->x", &field), -ENOENT, "compile with -g");
	assert_int_equal(find_name(file, "main", "argc", &name), -ENODATA);
}

TEST_MAIN(fixture_enter, fixture_leave)
