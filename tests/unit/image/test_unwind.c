/* SPDX-License-Identifier: BSD-2-Clause */
#include "image/unwind.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "arch/arch.h"
#include "base/array.h"
#include "image/image.h"
#include "unit/elf/fixture.h"

enum { IP_MAX = 256, STACK_MAX = 256 << 10, JIT_RETURN = 6, SIZED = 8, SIZED_RETURN = 17, SIZED_END = 23 };

/* Where a test was stopped, and where it really was. */
struct moment {
	uint64_t regs[HIT_REG_CNT];
	uint8_t stack[STACK_MAX];
	size_t stack_size;
	void *truth[IP_MAX]; /* its callers, by backtrace(3) */
	size_t truth_cnt;
};

struct world {
	void *dir;
	struct image_objects *objects;
	struct image *image;
	/* of a library without frame pointers */
	int (*chain)(int (*fn)(void), int depth);
	int (*wide)(int (*fn)(void), int depth);
	void *jit; /* code without call frame information */
	uint64_t stack_end;
};

static struct moment moment;
static struct world *the_world; /* for functions that take no argument */

static void map_line(struct world *world, const char *line)
{
	char perms[8], path[512] = "";
	unsigned long start, end, offset;
	struct image_section section;

	if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511[^\n]", &start, &end, perms, &offset, path) < 4)
		return;
	if (!strcmp(path, "[stack]"))
		world->stack_end = end;
	if (perms[2] != 'x')
		return;
	section = (struct image_section){.addr = start,
					 .size = end - start,
					 .file_offset = offset,
					 .path = path[0] == '/' ? path : NULL,
					 .object = path[0] ? path : "//anon"};
	assert_ok(image_map(world->image, 0, &section));
}

static void map_self(struct world *world)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		map_line(world, line);
	fclose(maps);
}

/*
 * push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
 * push %rbp; sub $32,%rsp; xor %ebp,%ebp; call *%rdi; add $32,%rsp; pop %rbp; ret
 */
static void *make_jit(void)
{
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3, 0x55, 0x48, 0x83, 0xec,
				       0x20, 0x31, 0xed, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3};
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return memcpy(at, code, sizeof(code));
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	void *library;

	if (!world || fixture_enter(&world->dir))
		return -1;
	fixture_build("chain.c",
		      "#include <alloca.h>\n#include <string.h>\n"
		      "int chain(int (*fn)(void), int depth)\n{\n"
		      "\treturn (depth ? chain(fn, depth - 1) : fn()) + 1;\n}\n"
		      "int wide(int (*fn)(void), int depth)\n{\n"
		      "\tchar *bytes = memset(alloca(depth * 100 + 1), depth, depth * 100 + 1);\n\n"
		      "\treturn (depth ? wide(fn, depth - 1) : fn()) + bytes[depth];\n}\n",
		      "gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-inline -fPIC "
		      "-shared -o chain.so chain.c");
	library = dlopen("./chain.so", RTLD_LAZY);
	if (!library || image_objects_new(&world->objects) || image_new(&world->image, world->objects))
		return -1;
	world->chain = (int (*)(int (*)(void), int))dlsym(library, "chain");
	world->wide = (int (*)(int (*)(void), int))dlsym(library, "wide");
	world->jit = make_jit();
	map_self(world);
	*state = the_world = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;
	void *dir = world->dir;

	image_free(world->image);
	image_objects_free(world->objects);
	free(world);
	return fixture_leave(&dir);
}

/* ---- against backtrace(3) ---- */

static const uint8_t context_regs[HIT_REG_CNT] = {
	[HIT_R15] = REG_R15, [HIT_R14] = REG_R14, [HIT_R13] = REG_R13, [HIT_R12] = REG_R12,
	[HIT_RBP] = REG_RBP, [HIT_RBX] = REG_RBX, [HIT_RIP] = REG_RIP, [HIT_RSP] = REG_RSP,
};

/* Reads over the bounds of other functions' variables, which is what a copy of the stack is. */
__attribute__((no_sanitize("address"))) static void copy_stack(const volatile uint64_t *from, size_t size)
{
	volatile uint64_t *to = (volatile uint64_t *)moment.stack;

	for (size_t i = 0; i < size / 8; i++)
		to[i] = from[i];
	moment.stack_size = size;
}

/* The sanitizers' backtrace() is in it, too. */
static void find_truth(const void *caller)
{
	size_t cnt = (size_t)backtrace(moment.truth, IP_MAX), inner = 0;

	while (inner < cnt && moment.truth[inner] != caller)
		inner++;
	moment.truth_cnt = cnt - inner;
	memmove(moment.truth, moment.truth + inner, moment.truth_cnt * sizeof(void *));
}

__attribute__((noinline)) static int capture(void)
{
	ucontext_t context;
	uint64_t rsp;

	if (getcontext(&context))
		return -1;
	rsp = (uint64_t)context.uc_mcontext.gregs[REG_RSP];
	for (size_t i = 0; i < HIT_REG_CNT; i++)
		moment.regs[i] = (uint64_t)context.uc_mcontext.gregs[context_regs[i]];
	copy_stack((const uint64_t *)rsp,
		   the_world->stack_end - rsp < STACK_MAX ? the_world->stack_end - rsp : STACK_MAX);
	find_truth(__builtin_return_address(0));
	return (int)moment.truth_cnt;
}

static size_t unwind(size_t size, uint64_t *ips)
{
	return unwind_stack(the_world->image, 0, moment.regs, moment.stack, size, ips, IP_MAX);
}

/* All callers, to the program's beginning; an interrupted function is one byte further here. */
static void assert_is_truth(uint64_t interrupted)
{
	uint64_t ips[IP_MAX];
	size_t cnt = unwind(moment.stack_size, ips);

	assert_int_equal(cnt, moment.truth_cnt + 1);
	assert_int_equal(ips[0], moment.regs[HIT_RIP]);
	for (size_t i = 1; i < cnt; i++)
		assert_int_equal(ips[i] - (ips[i] - 1 == interrupted), moment.truth[i - 1]);
}

TEST(test_functions_without_frame_pointers_are_unwound)
{
	struct world *world = *state;

	world->chain(capture, 20);
	assert_true(moment.truth_cnt > 20);
	assert_is_truth(0);
}

TEST(test_frames_of_variable_size_are_unwound)
{
	struct world *world = *state;

	world->wide(capture, 20);
	assert_is_truth(0);
}

static int compare_and_capture(const void *left, const void *right)
{
	capture();
	return *(const int *)left - *(const int *)right;
}

TEST(test_a_library_in_the_middle_is_unwound)
{
	int numbers[] = {5, 3, 4, 1, 2, 9, 7};

	qsort(numbers, ARRAY_SIZE(numbers), sizeof(numbers[0]), compare_and_capture);
	assert_is_truth(0);
}

static uint64_t interrupted_at;

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	interrupted_at = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	the_world->chain(capture, 3);
}

static int raise_signal(void)
{
	return raise(SIGUSR1);
}

static void handle(int flags)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	the_world->chain(raise_signal, 3);
	signal(SIGUSR1, SIG_DFL);
}

TEST(test_what_a_signal_interrupted_is_unwound)
{
	handle(0);
	assert_is_truth(interrupted_at);
}

TEST(test_a_handlers_own_stack_ends_at_its_signal)
{
	void *stack = mmap(NULL, STACK_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t own = {.ss_sp = stack, .ss_size = STACK_MAX}, none = {.ss_flags = SS_DISABLE};
	uint64_t end = the_world->stack_end, ips[IP_MAX];
	size_t cnt;

	assert_ptr_not_equal(stack, MAP_FAILED);
	assert_int_equal(sigaltstack(&own, NULL), 0);
	the_world->stack_end = (uint64_t)stack + STACK_MAX;
	handle(SA_ONSTACK);
	the_world->stack_end = end;
	assert_int_equal(sigaltstack(&none, NULL), 0);
	cnt = unwind(moment.stack_size, ips);
	assert_int_equal(ips[cnt - 1], interrupted_at + 1);
	munmap(stack, STACK_MAX);
}

/* Of the moment: it was reached from `test` by way of made code, whose call returns there. */
static void is_passed(const struct world *world, size_t returns_at, void (*test)(void **state))
{
	uint64_t ips[IP_MAX];
	size_t cnt = unwind(moment.stack_size, ips), at = 0;

	while (at < cnt && ips[at] != (uint64_t)world->jit + returns_at)
		at++;
	assert_int_equal(at, 1);
	assert_in_range(ips[2], (uint64_t)test, (uint64_t)test + 4096);
	assert_true(cnt > 4);
}

TEST(test_code_without_information_is_passed_by_its_frame_pointer)
{
	struct world *world = *state;

	((int (*)(int (*)(void)))world->jit)(capture);
	is_passed(world, JIT_RETURN, test_code_without_information_is_passed_by_its_frame_pointer);
}

static struct jit_symbols sized(const struct world *world, uint32_t bytes)
{
	struct jit_function function = {.symbol = {.start = (uint64_t)world->jit + SIZED,
						   .end = (uint64_t)world->jit + SIZED_END,
						   .name = strdup("sized"),
						   .named = true},
					.frame = {.bytes = bytes, .complete = 5}};
	struct jit_symbols symbols = {0};

	assert_ok(ARRAY_PUSH(symbols.items, symbols.cnt, symbols.cap, function));
	return symbols;
}

/* As a JVM tells it, whose code uses the frame pointer for other things. */
TEST(test_code_whose_frame_size_is_known)
{
	struct world *world = *state;
	struct jit_symbols symbols = sized(world, 48);
	uint64_t ips[IP_MAX];
	size_t cnt;

	((int (*)(int (*)(void)))((uint8_t *)world->jit + SIZED))(capture);
	cnt = unwind(moment.stack_size, ips);
	assert_int_equal(ips[cnt - 1], (uint64_t)world->jit + SIZED_RETURN);
	assert_ok(image_set_jit(world->image, &symbols));
	is_passed(world, SIZED_RETURN, test_code_whose_frame_size_is_known);
}

/* ---- what is missing, or wrong ---- */

TEST(test_a_cut_copy_gives_the_inner_frames)
{
	uint64_t whole[IP_MAX], ips[IP_MAX];
	size_t cnt, before = 1;

	((struct world *)*state)->chain(capture, 20);
	cnt = unwind(moment.stack_size, whole);
	for (size_t size = 0; size < moment.stack_size && before < cnt; size++) {
		size_t got = unwind(size, ips);

		assert_in_range(got, before, before + 1);
		assert_memory_equal(ips, whole, got * sizeof(*ips));
		before = got;
	}
	assert_int_equal(before, cnt);
}

/*
 * Each frame lies above what it called, within the copy; a cut copy gives the same frames, and says that it
 * is cut.
 */
TEST(test_frames_have_their_places)
{
	uint64_t ips[IP_MAX], cfas[IP_MAX], cut_cfas[IP_MAX];
	struct unwound whole = {.ips = ips, .cfas = cfas, .cap = IP_MAX};
	struct unwound cut = {.ips = ips, .cfas = cut_cfas, .cap = IP_MAX};
	size_t half;

	((struct world *)*state)->chain(capture, 20);
	unwind_frames(the_world->image, 0, moment.regs, moment.stack, moment.stack_size, &whole);
	assert_true(whole.is_whole);
	assert_true(whole.cnt > 20);
	for (size_t i = 1; i + 1 < whole.cnt; i++)
		assert_true(cfas[i] > cfas[i - 1]);
	half = cfas[10] - moment.regs[HIT_RSP];
	unwind_frames(the_world->image, 0, moment.regs, moment.stack, half, &cut);
	assert_false(cut.is_whole);
	assert_in_range(cut.cnt, 11, 13);
	assert_memory_equal(cfas, cut_cfas, cut.cnt * sizeof(*cfas));
	assert_true(cut.reached >= cfas[9] && cut.reached < cfas[13]);
}

TEST(test_no_more_is_given_than_there_is_room_for)
{
	uint64_t ips[4] = {0};

	((struct world *)*state)->chain(capture, 20);
	assert_int_equal(
		unwind_stack(the_world->image, 0, moment.regs, moment.stack, moment.stack_size, ips, 3), 3);
	assert_int_equal(ips[3], 0);
	assert_int_equal(
		unwind_stack(the_world->image, 0, moment.regs, moment.stack, moment.stack_size, NULL, 0), 0);
}

static uint64_t random_number(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

TEST(test_garbage_ends_somewhere)
{
	const struct image_section *sections[64];
	uint64_t seed = 1, ips[IP_MAX];
	size_t cnt = 0;

	((struct world *)*state)->chain(capture, 20);
	IMAGE_FOR_EACH_SECTION (section, the_world->image, 0)
		if (cnt < ARRAY_SIZE(sections))
			sections[cnt++] = section;
	for (int i = 0; i < 20000; i++) {
		const struct image_section *section = sections[random_number(&seed) % cnt];

		for (size_t reg = 0; reg < HIT_REG_CNT; reg++)
			if (random_number(&seed) % 2)
				moment.regs[reg] = random_number(&seed) >> random_number(&seed) % 64;
		moment.regs[HIT_RIP] = section->addr + random_number(&seed) % section->size;
		assert_in_range(unwind(moment.stack_size, ips), 1, IP_MAX);
		assert_int_equal(ips[0], moment.regs[HIT_RIP]);
	}
}

/* ---- at every instruction ---- */

/* Calls as they are made and return: each is known by the word that it put on the stack. */
struct shadow {
	uint64_t ips[IP_MAX], at[IP_MAX];
	size_t cnt;
};

static void follow(struct shadow *shadow, const uint64_t *old, const uint64_t *regs, uint64_t top)
{
	if (regs[HIT_RSP] == old[HIT_RSP] - 8 && top - old[HIT_RIP] - 1 < 8 && regs[HIT_RIP] != top) {
		assert_in_range(shadow->cnt, 0, IP_MAX - 1);
		shadow->ips[shadow->cnt] = top;
		shadow->at[shadow->cnt++] = regs[HIT_RSP];
	}
	while (shadow->cnt && regs[HIT_RSP] > shadow->at[shadow->cnt - 1])
		shadow->cnt--;
}

static void check_here(const struct shadow *shadow)
{
	uint64_t ips[IP_MAX];
	size_t cnt = unwind(moment.stack_size, ips);

	for (size_t i = 0; i < shadow->cnt; i++)
		if (cnt < i + 2 || ips[i + 1] != shadow->ips[shadow->cnt - 1 - i])
			fail_msg("at %s+%#lx: caller %zu of %zu: %#lx, not %#lx",
				 image_symbol_at(the_world->image, 0, ips[0])->name,
				 (long)(ips[0] - image_symbol_at(the_world->image, 0, ips[0])->start), i + 1,
				 shadow->cnt, (long)(cnt < i + 2 ? 0 : ips[i + 1]),
				 (long)shadow->ips[shadow->cnt - 1 - i]);
}

static void read_moment(pid_t pid)
{
	struct iovec to = {.iov_base = moment.stack}, from;
	struct user_regs_struct user;

	_Static_assert(offsetof(struct user_regs_struct, rsp) == HIT_RSP * sizeof(uint64_t),
		       "the same order");
	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &user), 0);
	memcpy(moment.regs, &user, sizeof(moment.regs));
	to.iov_len = the_world->stack_end - moment.regs[HIT_RSP];
	if (to.iov_len > 16384)
		to.iov_len = 16384;
	from = (struct iovec){.iov_base = (void *)moment.regs[HIT_RSP], .iov_len = to.iov_len};
	moment.stack_size = (size_t)process_vm_readv(pid, &to, 1, &from, 1, 0);
	assert_int_equal(moment.stack_size, to.iov_len);
}

static int by_number(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static int sort_and_print(void)
{
	int numbers[] = {5, 3, 4, 1, 2, 9, 7};
	char text[64];

	qsort(numbers, ARRAY_SIZE(numbers), sizeof(numbers[0]), by_number);
	return snprintf(text, sizeof(text), "%d %f %s", numbers[0], 1.5, "x");
}

static void run_child(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	the_world->chain(sort_and_print, 3);
	the_world->wide(sort_and_print, 3);
	_exit(0);
}

TEST(test_callers_are_right_at_every_instruction)
{
	struct shadow shadow = {0};
	uint64_t old[HIT_REG_CNT], top;
	size_t steps = 0;
	pid_t pid = fork();
	int status;

	if (!pid)
		run_child();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (read_moment(pid);; steps++) {
		memcpy(old, moment.regs, sizeof(old));
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		read_moment(pid);
		memcpy(&top, moment.stack, sizeof(top));
		follow(&shadow, old, moment.regs, top);
		check_here(&shadow);
	}
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_true(steps > 2000);
}

TEST_MAIN(setup, teardown)
