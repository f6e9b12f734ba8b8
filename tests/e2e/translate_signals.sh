#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Signals and faults of translated programs: handlers find what they find natively, and none is lost.
. tests/e2e/lib.sh
GLIBC_TUNABLES=glibc.pthread.rseq=0
export GLIBC_TUNABLES

# Calls of what there is nothing at, and where that was; of what is no address (the second one), processors and
# their hypervisors tell different places. And what the kernel knows of gs.
cat >"$tmp/null.c" <<'EOF'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
static sigjmp_buf back;
static unsigned long nowhere[] = {0, 0x8000000000001234, 0xffffffff80000000, 0x7ffffffff000, 0};
static volatile int i;
static void handler(int signal, siginfo_t *info, void *context)
{
	printf("signal %d, code %d, at %p", signal, info->si_code, info->si_addr);
	if (i != 1)
		printf(", ip %llx", (long long)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]);
	puts("");
	siglongjmp(back, 1);
}
int main(void)
{
	enum { GET_GS = 0x1004 };
	const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};
	unsigned long base = 7;
	sigaction(SIGSEGV, &action, 0);
	sigaction(SIGBUS, &action, 0);
	for (i = 0; i < 5; i++)
		if (!sigsetjmp(back, 1))
			((void (*)(void))nowhere[i])();
	printf("%ld\n", syscall(SYS_arch_prctl, GET_GS, &base));
	printf("gs %lx, %ld\n", base, syscall(SYS_arch_prctl, GET_GS, 1));
	puts("end");
	return 0;
}
EOF
gcc -O1 -w -D_GNU_SOURCE -o "$tmp/null" "$tmp/null.c" || exit 1
calls_nothing() {
	same 0 "$tmp/null" && says "$tmp/native" 'gs 0, -1' && says "$tmp/native" end
}
check 'calls of nothing, caught; the base of gs' calls_nothing
# Calls of what may not be executed: it becomes so in the handler, ceases to be so, and in the end that kills.
cat >"$tmp/data.c" <<'EOF'
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
static sigjmp_buf back;
static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3}; /* mov $42, %eax; ret */
static unsigned char *page;
static int heals;
static void handler(int signal, siginfo_t *info, void *context)
{
	printf("signal %d, code %d, %s, ip %s\n", signal, info->si_code, info->si_addr == page ? "the page" : "elsewhere",
	       (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] == info->si_addr ? "there" : "elsewhere");
	if (!heals)
		siglongjmp(back, 1);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
}
static void run(void)
{
	if (!sigsetjmp(back, 1))
		printf("%d\n", ((int (*)(void))page)());
}
int main(void)
{
	const struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &action, 0);
	page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(page, code, sizeof(code));
	run();
	heals = 1;
	run();
	heals = 0;
	run();
	mprotect(page, 4096, PROT_READ);
	run();
	munmap(page, 4096);
	run();
	setvbuf(stdout, 0, _IONBF, 0);
	signal(SIGSEGV, SIG_DFL);
	page = (unsigned char *)code;
	run();
	return 0;
}
EOF
calls_data() {
	gcc -O1 -w -o "$tmp/data" "$tmp/data.c" && (ulimit -c 0; same 139 "$tmp/data") && [ "$(grep -c 42 "$tmp/native")" -eq 2 ]
}
check 'calls of data' calls_data
# Now and then two come so close to each other that one has to wait.
queued() {
	for _ in 1 2 3; do
		same 0 "$programs/queued" 20000 || return 1
	done
}
check 'signals that queue: none is lost' queued
# Into full queues, by threads to each other, while they fault.
check 'signals of threads: none is lost, all are in order' same 0 "$programs/ordered" 3000
# Signals that come while the time of a call is on its way to the ring: the program counts the calls itself.
cat >"$tmp/timed.c" <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile int handled;
static void handler(int signal) { handled++; }
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void)
{
	struct itimerval every = {{0, 700}, {0, 700}};
	int sum = 0, cnt = 0;
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &every, 0);
	for (; handled < 100; cnt++)
		sum += fib(12);
	every = (struct itimerval){0};
	setitimer(ITIMER_REAL, &every, 0);
	printf("%d\n", sum == cnt * 144 ? cnt * 465 : -1);
	return 0;
}
EOF
gcc -O1 -w -o "$tmp/timed" "$tmp/timed.c" || exit 1
interrupts_times() {
	translate --timer-resolution=high --snapshot-size=256M -- "$tmp/timed" >"$tmp/cnt" &&
		"$trailcam" decode -q -o "$tmp/timed.tsv" "$tmp/out.fxt.gz" &&
		awk -F '\t' '$4 == "fib" { cnt++ } END { print cnt }' "$tmp/timed.tsv" | diff - "$tmp/cnt"
}
check 'signals while calls are timed: all calls are there' interrupts_times
# Signals faster than they can be handled, and nobody any more to hold them back.
cat >"$tmp/storm.c" <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
static volatile long cnt;
static void handler(int signal) { (void)signal; cnt++; }
static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static void *work(void *ctx) { return (void *)fib(31); }
int main(void)
{
	const struct itimerval real = {{0, 100}, {0, 100}}, prof = {{0, 200}, {0, 200}};
	pthread_t threads[3];
	void *result;
	signal(SIGALRM, handler);
	signal(SIGPROF, handler);
	setitimer(ITIMER_REAL, &real, 0);
	setitimer(ITIMER_PROF, &prof, 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &result);
		printf("%ld\n", (long)result);
	}
	puts(cnt > 10 ? "end" : "?");
	fflush(stdout);
	return 0;
}
EOF
gcc -O1 -w -o "$tmp/storm" "$tmp/storm.c" -lpthread || exit 1
killed_in_a_storm() {
	for ms in 250 300 350 400; do
		"$trailcam" run --source translate -o "$tmp/storm.fxt" -- "$tmp/storm" >"$tmp/out" 2>"$tmp/why" &
		front=$!
		sleep 0.$ms
		# shellcheck disable=SC2046
		kill -9 $front $(pgrep -P $front) 2>/dev/null
		wait $front
		wait_until grep -q end "$tmp/out" && [ "$(grep -c 1346269 "$tmp/out")" = 3 ] || return 1
	done 2>/dev/null
}
check 'a storm of signals, and trailcam is killed' killed_in_a_storm
# A thread gets two signals at once, of a program that catches all those that could stand in for one that waits.
cat >"$tmp/pairs.c" <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static const int signals[] = {SIGWINCH, SIGURG, SIGCHLD, SIGFPE, SIGUSR1};
enum { SIGNALS = sizeof(signals) / sizeof(*signals), TURNS = 10 * SIGNALS * SIGNALS, PATIENCE = 5000 };
static volatile int got[NSIG], ended, tid, turns;
static void handler(int signal) { got[signal]++; }
static int turn(int x) { return x + turns++; }
static void *work(void *ctx)
{
	for (tid = gettid(); !ended;)
		for (int i = 0; i < 1000; i++)
			turn(i);
	return ctx;
}
int main(void)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	int sent[NSIG] = {0}, lost = 0;
	pthread_t thread;
	for (int i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &action, 0);
	pthread_create(&thread, 0, work, 0);
	while (!tid)
		usleep(1000);
	for (int i = 0; i < TURNS && !lost; i++) {
		const int pair[] = {signals[i % SIGNALS], signals[i / SIGNALS % SIGNALS]};
		if (pair[0] == pair[1])
			continue;
		for (int j = 0; j < 2; j++) {
			sent[pair[j]]++;
			syscall(SYS_tgkill, getpid(), tid, pair[j]);
		}
		for (int ms = 0; ms < PATIENCE && (got[pair[0]] < sent[pair[0]] || got[pair[1]] < sent[pair[1]]); ms++)
			usleep(1000);
		lost = got[pair[0]] < sent[pair[0]] || got[pair[1]] < sent[pair[1]];
	}
	ended = 1;
	pthread_join(thread, 0);
	puts(lost ? "lost" : "none is lost");
	return 0;
}
EOF
gcc -O1 -w -D_GNU_SOURCE -o "$tmp/pairs" "$tmp/pairs.c" -lpthread || exit 1
check 'two signals at once, where all that do nothing are caught' same 0 "$tmp/pairs"
# A thread takes few branches, none of which tells a time, until another one has slept; then it crashes.
cat >"$tmp/after.c" <<'EOF'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int has_slept;
static void *sleeps(void *p) { usleep(20000); has_slept = 1; return p; }
int main(void)
{
	const size_t size = 1 << 22;
	char *memory = malloc(size);
	pthread_t thread;
	pthread_create(&thread, 0, sleeps, 0);
	while (!has_slept)
		__asm__ volatile("rep stosb" : : "D"(memory), "c"(size), "a"(0) : "memory");
	return *(volatile int *)16;
}
EOF
gcc -O1 -w -o "$tmp/after" "$tmp/after.c" -lpthread || exit 1
crash_is_late_enough() {
	"$trailcam" run -q --source translate --on-signal SIGSEGV -o "$tmp/after.fxt" -- "$tmp/after" 2>"$tmp/err"
	"$trailcam" dump --slices "$tmp/after.fxt" | awk -F '\t' '$4 == "usleep" { print "slept until", $2 }' >"$tmp/slept"
	"$trailcam" dump --hits "$tmp/after.fxt" | awk '$1 == "time_ns" { print "crashed at", $2 }' >"$tmp/crashed"
	cat "$tmp/slept" "$tmp/crashed" | awk '{ print; at[NR] = $3 } END { exit NR != 2 || at[1] > at[2] }'
}
check 'a crash does not seem to come before what led to it' crash_is_late_enough
# A core has the program's own registers, and no more memory than natively.
cat >"$tmp/crash.c" <<'EOF'
#include <stdio.h>
__attribute__((noinline)) static int deep(int n, volatile int *p) { return n ? deep(n - 1, p) + 1 : *p; }
int main(int argc, char **argv)
{
	puts("go");
	fflush(stdout);
	return deep(5, (int *)(long)(argc + 15));
}
EOF
gcc -O1 -fno-inline -w -o "$tmp/crash" "$tmp/crash.c" || exit 1
# The registers that calls keep, those of arguments, rip and rsp.
cat >"$tmp/registers.py" <<'EOF'
import struct, sys
core = open(sys.argv[1], "rb").read()
assert len(core) < 16 << 20, len(core)
offset, count = struct.unpack_from("<Q", core, 32)[0], struct.unpack_from("<H", core, 56)[0]
headers = [struct.unpack_from("<IIQQQQQQ", core, offset + 56 * i) for i in range(count)]
note = next(header[2] for header in headers if header[0] == 4)
registers = struct.unpack_from("<27Q", core, note + 20 + 112)  # in elf_prstatus, behind the note's header and name
print([hex(registers[i]) for i in (0, 1, 2, 3, 4, 5, 12, 13, 14, 16, 19)])
EOF
dies_with_core() {
	rm -f "$tmp"/core*
	(cd "$tmp" && ulimit -c unlimited && "$@" >crash.out 2>crash.err)
	[ $? = 139 ] && mv "$tmp"/core* "$tmp/crash.core" && python3 "$tmp/registers.py" "$tmp/crash.core" >"$tmp/registers"
}
core_is_the_same() {
	dies_with_core setarch -R "$tmp/crash" && mv "$tmp/registers" "$tmp/native" &&
		dies_with_core setarch -R "$trailcam" run -q --source translate -o "$tmp/crash.fxt" -- "$tmp/crash" && diff "$tmp/native" "$tmp/registers"
}
case $(cat /proc/sys/kernel/core_pattern) in
core*) check 'the core of a program that dies' core_is_the_same ;;
*) skip 'the core of a program that dies' 'the kernel writes no cores to the current directory' ;;
esac
finish
