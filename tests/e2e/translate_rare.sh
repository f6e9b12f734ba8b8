#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What few programs do, translated ones do, too: code in odd places, odd instructions, frames of their own.
. tests/e2e/lib.sh

# As in lib.sh, for what ends soon, or never.
translate() {
	timeout 500 "$trailcam" run -q --source translate -o "$tmp/out.fxt.gz" "$@"
}

# built NAME OPTION...: $tmp/NAME, of $tmp/NAME.c
built() {
	name=$1
	shift
	gcc -O1 -w -D_GNU_SOURCE -o "$tmp/$name" "$tmp/$name.c" "$@"
}

# told TEXT STATUS PROGRAM...: the same, but that trailcam says why it went on natively.
told() {
	text=$1
	want=$2
	shift 2
	"$@" >"$tmp/native" 2>&1 </dev/null
	status_is "$want" translate -- "$@" >"$tmp/translated" 2>"$tmp/said" </dev/null
	says "$tmp/said" "$text" && diff "$tmp/native" "$tmp/translated"
}

# The runtimes of sanitizers look at each mapping of the program, and map where they please.
cat >"$tmp/checked.c" <<'END_OF_C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *work(void *ctx)
{
	free(malloc(100));
	return ctx;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, work, 0);
	pthread_join(thread, 0);
	puts("checked");
	return 3;
}
END_OF_C
sanitized() {
	"$1" -O1 -fsanitize="$2" -o "$tmp/checked" "$tmp/checked.c" -lpthread || return 1
	ASAN_OPTIONS=detect_leaks=0 same 3 "$tmp/checked"
}
for compiler in gcc clang; do
	for sanitizer in thread address memory dataflow; do
		if echo 'int main(void) { return 0; }' | $compiler -fsanitize=$sanitizer -x c -o "$tmp/empty" - 2>/dev/null; then
			check "$compiler -fsanitize=$sanitizer" sanitized $compiler $sanitizer
		fi
	done
done

# Memory that may be executed, which no call says: a stack that grows, one that was made so as the loader does it, data
# in a process that may execute all it can read, one more mapping of what is shared. All of it changes again and again.
cat >"$tmp/places.c" <<'END_OF_C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>
static int runs(unsigned char *at, int n)
{
	memcpy(at, "\xb8", 1); /* mov $n, %eax */
	memcpy(at + 1, &n, 4);
	at[5] = 0xc3; /* ret */
	__asm__ volatile("" : : : "memory");
	return ((int (*)(void))at)();
}
__attribute__((noinline)) static int on_stack(int depth)
{
	volatile char pad[5000];
	unsigned char code[16];
	int sum = 0;
	pad[0] = 1;
	for (int i = 0; i < 20; i++)
		sum += runs(code, depth + i);
	return depth ? sum + on_stack(depth - 1) : sum;
}
int main(int argc, char **argv)
{
	extern void *__libc_stack_end;
	unsigned char *page, *other;
	int sum = 0, fd = memfd_create("code", 0);
	if (argc > 1 && mprotect((void *)((unsigned long)__libc_stack_end & ~4095ul), 4096, 7 | PROT_GROWSDOWN))
		return 1;
	printf("%d\n", on_stack(100));
	personality(READ_IMPLIES_EXEC);
	page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 100; i++)
		sum += runs(page, i);
	ftruncate(fd, 4096);
	page = mmap(0, 4096, 7, MAP_SHARED, fd, 0);
	other = mremap(page, 0, 4096, MREMAP_MAYMOVE);
	for (int i = 0; i < 100; i++) {
		runs(page, i);
		sum += ((int (*)(void))other)();
	}
	printf("%d\n", sum);
	return 0;
}
END_OF_C
code_anywhere() {
	built places -z execstack && same 0 "$tmp/places" && built places && same 0 "$tmp/places" grows
}
check 'code on a stack, in data, in a second mapping' code_anywhere

# A thread brings the memory that another one wants to execute, and executes what is new to it meanwhile.
cat >"$tmp/served.c" <<'END_OF_C'
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static unsigned char *place;
static int fd;
static void *serve(void *ctx)
{
	static unsigned char page[4096] __attribute__((aligned(4096)));
	struct uffd_msg msg;
	struct uffdio_copy copy = {.dst = (unsigned long)place, .src = (unsigned long)page, .len = 4096};
	if (read(fd, &msg, sizeof(msg)) != sizeof(msg))
		return ctx;
	memcpy(page, "\xb8\x2a\0\0\0\xc3", 6);
	printf("at %llx, %d\n", msg.arg.pagefault.address - (unsigned long)place, atoi("17"));
	ioctl(fd, UFFDIO_COPY, &copy);
	return ctx;
}
int main(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register region = {.range.len = 4096, .mode = UFFDIO_REGISTER_MODE_MISSING};
	pthread_t thread;
	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		return 77;
	place = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	region.range.start = (unsigned long)place;
	ioctl(fd, UFFDIO_REGISTER, &region);
	pthread_create(&thread, 0, serve, 0);
	printf("%d\n", ((int (*)(void))place)());
	pthread_join(thread, 0);
	return 0;
}
END_OF_C
built served -lpthread || exit 1
"$tmp/served" >"$tmp/out" 2>&1
if [ $? -eq 77 ]; then
	skip 'code that a thread of the program provides' 'userfaultfd(2) is not allowed here'
else
	check 'code that a thread of the program provides' same 0 "$tmp/served"
fi

# sigreturn(2) by the same frame again and again, and by frames that are none.
cat >"$tmp/frames.c" <<'END_OF_C'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
static char frame[1024] __attribute__((aligned(64)));
static volatile int rounds, faults;
static volatile long spins;
static sigjmp_buf back;
static __attribute__((naked)) void sigreturn_by(void *frame)
{
	__asm__("mov %rdi, %rsp\n mov $15, %eax\n syscall\n hlt");
}
static void on_alarm(int signal, siginfo_t *info, void *context)
{
	const struct itimerval soon = {.it_value.tv_usec = 2000};
	if (!rounds++)
		memcpy(frame, context, 304);
	((ucontext_t *)frame)->uc_mcontext.fpregs = 0;
	setitimer(ITIMER_REAL, &soon, 0);
	sigreturn_by(frame);
}
static void on_fault(int signal, siginfo_t *info, void *context)
{
	printf("signal %d, code %d, at %p\n", signal, info->si_code, info->si_addr);
	siglongjmp(back, ++faults);
}
static void *work(void *ctx)
{
	printf("a thread works: %d\n", atoi("12"));
	return ctx;
}
static void catches(int signal, void (*handler)(int, siginfo_t *, void *))
{
	const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(signal, &action, 0);
}
int main(void)
{
	static char stack[1 << 16];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	const struct itimerval soon = {.it_value.tv_usec = 10000};
	char *page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	setvbuf(stdout, 0, _IONBF, 0);
	sigaltstack(&alternate, 0);
	catches(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, 0);
	while (rounds < 20)
		spins++;
	signal(SIGALRM, SIG_IGN);
	puts("20 rounds");
	catches(SIGSEGV, on_fault);
	if (!sigsetjmp(back, 1))
		sigreturn_by((void *)64);
	if (!sigsetjmp(back, 1))
		sigreturn_by((void *)0x8000000000000000);
	if (!sigsetjmp(back, 1))
		sigreturn_by(page + 64);
	pthread_create(&thread, 0, work, 0);
	pthread_join(thread, 0);
	printf("%d faults\n", faults);
	return 0;
}
END_OF_C
built frames -lpthread || exit 1
check 'frames of sigreturn(2) that are used again, or are none' same 0 "$tmp/frames"

# The program finds out which of its system calls are not its own code's.
cat >"$tmp/dispatch.c" <<'END_OF_C'
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { USER_DISPATCH = 59 };
static volatile int cnt;
static char blocks;
static unsigned long start, size;
static void on_call(int signal, siginfo_t *info, void *context)
{
	cnt += info->si_syscall == SYS_getpid;
}
static int find_libc(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	for (int i = 0; strstr(info->dlpi_name, "libc.so") && i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			size = info->dlpi_phdr[i].p_memsz;
		}
	return 0;
}
static long own_call(long number)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number) : "rcx", "r11", "memory");
	return result;
}
int main(void)
{
	const struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
	dl_iterate_phdr(find_libc, 0);
	sigaction(SIGSYS, &action, 0);
	if (prctl(USER_DISPATCH, 1, start, size, &blocks))
		return 77;
	blocks = 1;
	for (int i = 0; i < 10; i++)
		own_call(SYS_getpid);
	getppid();
	blocks = 0;
	printf("%d calls\n", cnt);
	return 0;
}
END_OF_C
built dispatch || exit 1
"$tmp/dispatch" >"$tmp/out" 2>&1
if [ $? -eq 77 ]; then
	skip 'system calls that are dispatched to the program' 'the kernel cannot do that'
else
	check 'system calls that are dispatched to the program' told 'it restricts its system calls' 0 "$tmp/dispatch"
fi

# Instructions, each in a process of its own: in memory that may be executed, may be written to as well, and that ends
# behind them. What a handler finds, or what they have left in the registers.
cat >"$tmp/insns.c" <<'END_OF_C'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#define TEST(name, bytes) {name, sizeof(bytes) - 1, bytes}
static const struct {
	const char *name;
	int size;
	const char *bytes;
} tests[] = {
	TEST("int3", "\xcc\xc3"),
	TEST("int 3", "\x90\xcd\x03\x90\xc3"),
	TEST("int1", "\xf1\x90\xc3"),
	TEST("int 4", "\xcd\x04\xc3"),
	TEST("int 0x80: getpid", "\xb8\x14\0\0\0\xcd\x80\x31\xc0\xc3"),
	TEST("sysenter", "\x0f\x34\xc3"),
	TEST("syscall -1", "\x48\xc7\xc0\xff\xff\xff\xff\x0f\x05\x90\xc3"),
	TEST("syscall of x32", "\xb8\x27\0\0\x40\x0f\x05\x90\xc3"),
	TEST("ud2", "\x90\x0f\x0b\xc3"),
	TEST("hlt", "\xf4\xc3"),
	TEST("in", "\xec\xc3"),
	TEST("rdpmc", "\x0f\x33\xc3"),
	TEST("div by 0", "\x31\xd2\x31\xc9\xf7\xf1\xc3"),
	TEST("into", "\xce\xc3"),
	TEST("lret", "\x59\x8c\xc8\x48\x0f\xb7\xc0\x50\x51\x48\xcb"),
	TEST("iretq", "\x59\x8c\xd0\x48\x89\xe2\x50\x52\x9c\x8c\xc8\x50\x51\x48\xcf"),
	TEST("trap flag", "\x9c\x81\x0c\x24\0\1\0\0\x9d\x90\x90\x90\xc3"),
	TEST("trap flag, ret", "\x9c\x81\x0c\x24\0\1\0\0\x9d\xc3"),
	TEST("trap flag, jmp", "\x9c\x81\x0c\x24\0\1\0\0\x9d\xeb\x01\xcc\x90\x90\xc3"),
	TEST("trap flag, syscall", "\x9c\x81\x0c\x24\0\1\0\0\xb8\x0f\x27\0\0\x9d\x0f\x05\x90\xc3"),
	TEST("std, null", "\xfd\x90\x48\x8b\x04\x25\0\0\0\0\xfc\xc3"),
	TEST("wrgsbase behind a prefix", "\x31\xc0\x2e\xf3\x48\x0f\xae\xd8\xc3"),
	TEST("xbegin", "\xc7\xf8\x02\0\0\0\x0f\x01\xd5\x31\xc0\xc3"),
	TEST("of 15 bytes", "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90\xc3"),
	TEST("of 16 bytes", "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90\xc3"),
	TEST("enter", "\xc8\x20\0\3\xc9\xc3"),
	TEST("loop", "\xb9\5\0\0\0\x31\xc0\xff\xc0\xe2\xfc\xc3"),
	TEST("loop by ecx", "\x48\xb9\3\0\0\0\1\0\0\0\x31\xc0\xff\xc0\x67\xe2\xfb\xc3"),
	TEST("jrcxz", "\x31\xc9\xe3\x02\x31\xc0\xc3\xc3"),
	TEST("ret imm16", "\x59\x50\x50\x51\xc2\x10\0"),
	TEST("call, 16 bits", "\x66\xe8\0\0\0\0\x58\x31\xc0\xc3"),
	TEST("call, 66 rex.w", "\x66\x48\xe8\1\0\0\0\xc3\x58\x31\xc0\xc3"),
	TEST("ret, 16 bits", "\x66\xc3"),
	TEST("jcc, 16 bits", "\x31\xc9\x66\x0f\x84\0\0\0\0\xc3"),
	TEST("into an instruction", "\xeb\x02\x48\xb8\x31\xc0\xc3\x90\x90\x90\x90\x90"),
	TEST("rex in front of a prefix", "\x48\x66\x90\x48\x48\x90\xc3"),
	TEST("call by no stack", "\x48\x31\xe4\xe8\0\0\0\0\xc3"),
	TEST("ret by no stack", "\x48\x31\xe4\xc2\x08\0"),
	TEST("test, its other opcode", "\xf6\xc8\x01\xc3"),
	TEST("salc", "\xd6\xc3"),
	TEST("les", "\xc4\0\xc3"),
};
enum { TESTS = sizeof(tests) / sizeof(*tests) };
static sigjmp_buf back;
static unsigned char *code;
static unsigned long stack_at, registers[6];
static int signals;
static void show(const char *name, unsigned long value)
{
	if (value - (unsigned long)code < 4096)
		printf(" %s code%+ld", name, value - (unsigned long)code);
	else if (value - (stack_at - 4096) < 8192)
		printf(" %s stack%+ld", name, value - stack_at);
	else if (value < 1 << 20)
		printf(" %s %lx", name, value);
	else
		printf(" %s elsewhere", name);
}
static void handler(int signal, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	printf(" signal %d, code %d,", signal, info->si_code);
	show("at", (unsigned long)info->si_addr);
	show("rip", regs[REG_RIP]);
	show("rsp", regs[REG_RSP]);
	show("rax", regs[REG_RAX]);
	show("rcx", regs[REG_RCX]);
	show("rdx", regs[REG_RDX]);
	show("rbx", regs[REG_RBX]);
	printf(" flags %llx\n", regs[REG_EFL] & ~0x10000ll);
	if (++signals > 8)
		_exit(9);
	if (signal != SIGTRAP)
		siglongjmp(back, 1);
}
__attribute__((noinline)) static void run(void)
{
	__asm__ volatile("push %%rbx\n push %%rbp\n mov $0x1111, %%eax\n mov $0x2222, %%ecx\n mov $0x3333, %%edx\n mov $0x4444, %%ebx\n"
			 "call *%0\n mov %%rax, %1\n mov %%rcx, 8+%1\n mov %%rdx, 16+%1\n mov %%rbx, 24+%1\n pushf\n pop 32+%1\n cld\n"
			 "pop %%rbp\n pop %%rbx"
			 : : "r"(code), "m"(registers[0]) : "rax", "rcx", "rdx", "rbx", "r8", "r9", "r10", "r11", "memory", "cc");
}
int main(int argc, char **argv)
{
	static char stack[1 << 16];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	const int test = atoi(argv[1]), way = atoi(argv[2]);
	if (test == TESTS)
		return 100;
	setvbuf(stdout, 0, _IOLBF, 0);
	sigaltstack(&alternate, 0);
	for (int i = 0; i < 5; i++)
		sigaction((const int[]){SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGTRAP}[i], &action, 0);
	code = mmap((void *)0x70000000, 8192, PROT_READ | PROT_WRITE | (way == 1 ? PROT_EXEC : 0), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (way == 2) {
		munmap(code + 4096, 4096);
		code += 4096 - tests[test].size;
	}
	memcpy(code, tests[test].bytes, tests[test].size);
	if (way != 1)
		mprotect((void *)((unsigned long)code & ~4095ul), 4096, PROT_READ | PROT_EXEC);
	printf("%s:\n", tests[test].name);
	stack_at = (unsigned long)__builtin_frame_address(0);
	if (!sigsetjmp(back, 1)) {
		run();
		for (int i = 0; i < 5; i++)
			show("", registers[i]);
	}
	puts(" end");
	return 0;
}
END_OF_C
# What could not be translated runs natively, which is said: that is left out.
all_instructions() {
	test=0
	while [ $test -lt 100 ]; do
		"$tmp/insns" $test "$1" >"$tmp/native" 2>&1
		native=$?
		[ $native -eq 100 ] && break
		status_is $native translate -- "$tmp/insns" $test "$1" >"$tmp/translated" 2>"$tmp/said" || return 1
		diff "$tmp/native" "$tmp/translated" || return 1
		grep -v 'runs natively' "$tmp/said" && return 1
		test=$((test + 1))
	done
	[ $test -gt 30 ]
}
# Of the 64 MiB that its cgroup may have, a program takes 48 by and by, with threads that fill their rings: what is
# ours goes in time. The group is made in the hierarchy that limits memory, whichever that is.
cat >"$tmp/grows.c" <<'END_OF_C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int ends;
__attribute__((noinline)) static unsigned mix(unsigned x) { return x * 2654435761u ^ x >> 7; }
static void *work(void *ctx)
{
	volatile unsigned sum = 0;
	for (unsigned i = 0; !ends; i++)
		if (mix(i) & 1)
			sum += mix(sum);
	return ctx;
}
int main(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 48; i++) {
		memset(malloc(1 << 20), i, 1 << 20);
		usleep(10000);
	}
	ends = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	puts("grown");
	return 3;
}
END_OF_C
group=/sys/fs/cgroup/memory/trailcam_test.$$ limit=memory.limit_in_bytes
[ -e /sys/fs/cgroup/cgroup.controllers ] && group=/sys/fs/cgroup/trailcam_test.$$ limit=memory.max
grows() {
	"$@" -- sh -c "echo \$\$ >$group/cgroup.procs && exec $tmp/grows" >"$tmp/out" 2>"$tmp/said"
	status=$?
	[ $status -eq 3 ] && says "$tmp/out" grown && says "$tmp/said" 'may soon need the memory that recording takes'
}
built grows -lpthread || exit 1
if mkdir "$group" 2>/dev/null && echo 64M >"$group/$limit"; then
	check 'a cgroup with little memory' grows "$trailcam" run --source translate -o "$tmp/out.fxt.gz"
else
	skip 'a cgroup with little memory' 'no cgroup that limits memory can be made'
fi 2>/dev/null
rmdir "$group" 2>/dev/null

built insns -no-pie || exit 1
check 'instructions' all_instructions 0
check 'instructions in memory that is written to' all_instructions 1
check 'instructions behind which memory ends' all_instructions 2
finish
