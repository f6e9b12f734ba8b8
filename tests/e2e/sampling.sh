#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --source samples: stacks by the clock, and where threads wait, of programs that are known. That perf reads
# what is kept.
. tests/e2e/lib.sh

# Calls that last, without frame pointers, between waits that last, too; now and then a hit.
cat >"$tmp/burn.c" <<'EOF2'
#include <stdlib.h>
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) sink += (unsigned long)i * 3; }
__attribute__((noinline)) void middle(int depth, int n)
{
	if (depth)
		middle(depth - 1, n);
	else
		leaf(n);
	sink++;
}
__attribute__((noinline)) void rarely(int n) { sink += (unsigned long)n; }
__attribute__((noinline)) void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 20000000}, 0); }
int main(int argc, char **argv)
{
	for (int i = 0; argc < 2 || i < atoi(argv[1]); i++) {
		middle(2, 30000000);
		nap();
		if (i % 5 == 4)
			rarely(i);
	}
	return 0;
}
EOF2
gcc -O1 -fno-optimize-sibling-calls -fomit-frame-pointer -o "$tmp/burn" "$tmp/burn.c" || exit 1

refusals() {
	one_line 125 'is not from 1 to' run --source samples --frequency 0 -o "$tmp/t.tsv" -- true &&
		one_line 125 'belong to --source samples' run --source step --frequency 100 -o "$tmp/t.tsv" -- true &&
		one_line 125 '--timer-resolution belongs to --source intel_pt or translate; the source here is samples' \
			run --source samples --timer-resolution high -o "$tmp/t.tsv" -- true &&
		one_line 125 '--max-stall belongs to --source step' run --source samples --max-stall none -o "$tmp/t.tsv" -- true
}
one_line() {
	wanted=$1 text=$2
	shift 2
	status_is "$wanted" "$trailcam" "$@" 2>"$tmp/err" && says "$tmp/err" "$text"
}
check 'options that are refused' refusals

if bpf_missing; then
	skip 'samples' "$bpf_reason"
	finish
fi

record() {
	status_is 0 "$trailcam" run --source samples "$@" -o "$tmp/t.folded" -- "$tmp/burn" 10 2>"$tmp/err"
}
run_to_hit() {
	record -t rarely --keep-recording "$tmp/recording" && says "$tmp/err" 'hit rarely' &&
		says "$tmp/t.folded" 'main;middle;middle;middle;leaf' && says "$tmp/t.folded" 'main;nap'
}
check 'a program up to its hit' run_to_hit

# The first naps at least have a stack with them.
waits() {
	grep -q '^burn;.*main;nap;.*nanosleep.*\[off-cpu\]' "$tmp/t.folded" || { cat "$tmp/t.folded"; return 1; }
}
check 'where it waits, and for what' waits

decoded_again() {
	status_is 0 "$trailcam" decode -o "$tmp/again.folded" "$tmp/recording" && diff "$tmp/t.folded" "$tmp/again.folded"
}
check 'what was kept is decoded to the same' decoded_again

perf_reads() {
	perf script -i "$tmp/recording/data" -F comm,tid,time,event,ip,sym >"$tmp/script" 2>"$tmp/perf.err" || { cat "$tmp/perf.err"; return 1; }
	says "$tmp/script" 'switch-out' && says "$tmp/script" 'wake-up' && says "$tmp/script" 'leaf' &&
		perf report -i "$tmp/recording/data" --stdio >"$tmp/report" 2>"$tmp/perf.err" && says "$tmp/report" 'middle'
}
if command -v perf >"$tmp/which"; then
	check 'perf script and perf report read it' perf_reads
else
	skip 'perf reads it' 'no perf here'
fi
rm -r "$tmp/recording"

to_the_end() {
	record --syscalls --frequency 500 && says "$tmp/t.folded" 'main;middle;middle;middle;leaf'
}
check 'without a trigger, to its end' to_the_end

# System calls that are numbered, more than the rings hold: what each snapshot took joins what the one before
# it took, though the program never waits.
cat >"$tmp/numbers.c" <<'EOF2'
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void marker(void) { __asm__ volatile(""); }
int main(void)
{
	for (int i = 0; i < 30000; i++) {
		syscall(SYS_close, 1000000 + i);
		if (i % 10 == 9)
			nanosleep(&(struct timespec){.tv_nsec = 500000}, 0);
		if (i % 1000 == 999)
			marker();
	}
	return 0;
}
EOF2
gcc -O1 -o "$tmp/numbers" "$tmp/numbers.c" || exit 1
room=8
while [ $room -lt $((8 * $(getconf _NPROCESSORS_CONF))) ]; do
	room=$((2 * room))
done
# numbers OPTION...: how many of them are in the trace.
numbers() {
	"$trailcam" run --source samples --syscalls --snapshot-size ${room}M "$@" -o "$tmp/t.json" -- "$tmp/numbers" 2>"$tmp/err" && python3 -c '
import json, re, sys
names = (e.get("args", {}).get("about", "") for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "B")
print(sum(bool(re.match(r"close of file descriptor 1\d{6}$", name)) for name in names))' "$tmp/t.json"
}
# Hits that come while a snapshot is written are of that one.
split_of_them() {
	"$trailcam" run --source samples -t marker --multi-snapshot --max-hits 4 --split -o "$tmp/part.csv" -- "$tmp/numbers" 2>"$tmp/err" && says "$tmp/err" '4 snapshots' &&
		[ "$(ls "$tmp"/part-*.csv | wc -l)" = 4 ]
}
all_of_them() {
	[ "$(numbers -t marker --multi-snapshot)" -eq 30000 ] && says "$tmp/err" '31 snapshots' && ! grep -q ' gap\|the rings held' "$tmp/err"
}
the_last_of_them() {
	[ "$(numbers --snapshot-size $((room / 16))M --on-exit 0)" -lt 30000 ] && grep -q ' gap' "$tmp/err" &&
		advice=$(sed -n 's/^trailcam: the rings held the last \([0-9.e-]*\) s of waits, wake-ups and system calls: --snapshot-size=\([0-9]*\)M would hold \([0-9.e-]*\) s of them$/\1 \2 \3/p' "$tmp/err") &&
		awk -v had=$((room / 16)) 'BEGIN { rate = ARGV[1] * ARGV[2] / had / ARGV[3]; exit !(rate > 0.98 && rate < 1.02 && (ARGV[3] >= 10 || ARGV[2] == 1024) && ARGV[3] < 20) }' $advice
}
# Naps, ten at a time on one processor and ten on another, where a loud thread overwrites what is told of them.
cat >"$tmp/hops.c" <<'EOF2'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int cpus[2];
static void move_to(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}
static void *shout(void *unused)
{
	pthread_setname_np(pthread_self(), "loud");
	move_to(cpus[1]);
	for (;;)
		syscall(SYS_close, 1000000);
}
int main(int argc, char **argv)
{
	pthread_t thread;
	cpus[0] = atoi(argv[1]);
	cpus[1] = atoi(argv[2]);
	pthread_create(&thread, 0, shout, 0);
	for (int i = 0; i < 45; i++) {
		if (i % 10 == 0)
			move_to(cpus[i / 10 % 2]);
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, 0);
	}
	return 0;
}
EOF2
gcc -O1 -pthread -o "$tmp/hops" "$tmp/hops.c" || exit 1
cpus=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2])')
# Not one long call that moves it there, but a gap behind its first naps.
elsewhere_is_told() {
	# shellcheck disable=SC2086
	"$trailcam" run --source samples --syscalls --snapshot-size $((room / 16))M --on-exit 0 -o "$tmp/t.tsv" -- "$tmp/hops" $cpus 2>"$tmp/err" &&
		awk -F'\t' '$5 != $6 { next } /clock_nanosleep/ && (!nap || $1 < nap) { nap = $1 } /gap/ { gap = $1 } END { print nap, gap; exit !(nap && gap > nap) }' "$tmp/t.tsv"
}
check '--split: a file for each snapshot' split_of_them
# On a machine that is too busy it may come too late: then once more.
check 'between snapshots nothing is lost' eval 'all_of_them || all_of_them || all_of_them'
check 'a ring that is too small for that loses the beginning, and says so' the_last_of_them
if [ "$(echo "$cpus" | wc -w)" = 2 ]; then
	check 'where it ran on a processor that lost it, a gap tells' elsewhere_is_told
else
	skip 'a processor that lost what others did not' 'there is only one'
fi

# A stack of 8 KiB that is full of other numbers at each sample: a ring of 96 KiB has room for a dozen of them.
cat >"$tmp/full.c" <<'EOF2'
#include <stdint.h>
#include <time.h>
__attribute__((noinline)) void fill(volatile uint64_t *words, int cnt, uint64_t *seed)
{
	for (int i = 0; i < cnt; i++)
		words[i] = *seed = *seed * 6364136223846793005u + 1442695040888963407u;
}
int main(void)
{
	volatile uint64_t words[1024];
	uint64_t seed = 1;
	time_t end = time(0) + 3;

	while (time(0) < end)
		for (int i = 0; i < 100; i++)
			fill(words, 1024, &seed);
	return 0;
}
EOF2
gcc -O1 -o "$tmp/full" "$tmp/full.c" || exit 1
numbers_are_left_out() {
	"$trailcam" run --source samples --snapshot-size $((128 * $(getconf _NPROCESSORS_CONF)))K -o "$tmp/t.folded" -- "$tmp/full" 2>"$tmp/err" &&
		says "$tmp/t.folded" 'main;fill' || return 1
	seconds=$(sed -n 's/.*rings held the last \([0-9.]*\) s of stacks.*/\1/p' "$tmp/err")
	echo "$seconds seconds"
	[ -z "$seconds" ] || awk "BEGIN { exit !($seconds > 0.06) }" # without: they were never full
}
check 'numbers in a stack take no room' numbers_are_left_out

"$tmp/burn" >"$tmp/burn.out" 2>&1 &
pid=$!
trap 'kill $pid; [ -n "${KEEP:-}" ] || rm -rf "$tmp"' EXIT
attached() {
	status_is 0 "$trailcam" attach "$@" -t rarely --skip 5 -o "$tmp/t.folded" $pid 2>"$tmp/err" && says "$tmp/t.folded" 'main;middle;middle;middle;leaf' &&
		kill -0 $pid
}
# What stopped it at hits, and what ended it if that was no hit.
several() {
	attached --source samples --multi-snapshot --max-hits 3 --keep-recording "$tmp/several" && says "$tmp/err" '3 hits' && says "$tmp/err" '3 snapshots' &&
		"$trailcam" report --wide "$tmp/several" >"$tmp/report" && grep -q '^stopped by  *a reader that was woken$' "$tmp/report"
}
for_a_time() {
	status_is 0 "$trailcam" attach --source samples -t nap --every 1s --multi-snapshot --duration 3s --keep-recording "$tmp/timed" -o "$tmp/t.folded" $pid 2>"$tmp/err" &&
		"$trailcam" report --wide "$tmp/timed" >"$tmp/report" && grep -q '^stopped by  *a reader that was woken at each hit, then --duration$' "$tmp/report"
}
check 'a process that runs' attached --source samples
check 'one hit after the other' several
check 'one hit after the other, until the time is up' for_a_time

# Code that came to be while it was recorded, in each way there is: it calls, with a frame pointer and no tables.
cat >"$tmp/fresh.c" <<'EOF2'
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
enum { BYTES = 1 << 16, RWX = PROT_READ | PROT_WRITE | PROT_EXEC, RW = PROT_READ | PROT_WRITE };
/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
/* The same with two numbers where it has its frame: push %rbp; push $N; push $N; mov ...; call ...; add $16,%rsp; ... */
static const unsigned char numbers[] = {0x55, 0x68, 0x11, 0x11, 0,    0,    0x68, 0x22, 0x22, 0,	   0,
					0x48, 0x89, 0xe5, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
static void burn(void)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 150000000);
}
#define WAY(name) __attribute__((noinline)) void in_##name(void) { burn(); __asm__ volatile(""); }
WAY(protected) WAY(anywhere) WAY(hinted) WAY(file) WAY(longer) WAY(grown) WAY(moved) WAY(shared) WAY(placed) WAY(handler) WAY(numbers)
/* Of signals that come while it is in the vDSO, mostly. */
static void on_alarm(int signal) { in_handler(); }
static unsigned char *map(void *at, int rights, int flags, int fd)
{
	return mmap(at, BYTES, rights, flags | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), fd, 0);
}
static void call(unsigned char *at, void (*fn)(void), int is_there)
{
	if (at == MAP_FAILED)
		_exit(1);
	if (!is_there)
		memcpy(at, code, sizeof(code));
	((void (*)(void (*)(void)))(void *)at)(fn);
}
int main(void)
{
	unsigned char *at = map(0, RW, 0, -1), *hole = map(0, PROT_NONE, 0, -1), *odd = map(0, RWX, 0, -1);
	int fd = memfd_create("code", 0), id = shmget(IPC_PRIVATE, BYTES, 0700);
	ftruncate(fd, BYTES);
	signal(SIGALRM, on_alarm);
	*at = *odd = 0; /* else main() takes a while for its first write, and has called nothing then */
	for (int i = 0; i < 8; i++) {
		setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 2000}, 0);
		burn();
	}
	memcpy(odd, numbers, sizeof(numbers));
	call(odd, in_numbers, 1);
	write(fd, code, sizeof(code));
	memcpy(at, code, sizeof(code));
	mprotect(at, BYTES, PROT_READ | PROT_EXEC);
	call(at, in_protected, 1);
	call(map(0, RWX, 0, -1), in_anywhere, 0);
	call(map((void *)0x123400000000, RWX, 0, -1), in_hinted, 0);
	call(map(map(0, PROT_NONE, 0, -1), PROT_READ | PROT_EXEC, MAP_FIXED, fd), in_file, 1);
	at = map((void *)0x111100000000, RWX, 0, -1);
	call((unsigned char *)mremap(at, BYTES, 64 * BYTES, 0) + 63 * BYTES, in_longer, 0);
	munmap(at, 64 * BYTES);
	at = map(0, RWX, 0, -1);
	memcpy(at, code, sizeof(code));
	call(mremap(at, BYTES, 64 * BYTES, MREMAP_MAYMOVE), in_grown, 1);
	at = map(0, RWX, 0, -1);
	memcpy(at, code, sizeof(code));
	call(mremap(at, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, hole), in_moved, 1);
	call(at = shmat(id, 0, SHM_EXEC), in_shared, 0);
	shmdt(at);
	call(shmat(id, (void *)0x222200000000, SHM_EXEC), in_placed, 0);
	shmctl(id, IPC_RMID, 0);
	return 0;
}
EOF2
gcc -O1 -g -w -o "$tmp/fresh" "$tmp/fresh.c" || exit 1
fresh_code_is_followed() {
	status_is 0 "$trailcam" run --source samples -o "$tmp/t.folded" -- "$tmp/fresh" 2>"$tmp/err" || return 1
	for way in numbers handler protected anywhere hinted file longer grown moved shared placed; do
		grep ";in_$way;burn" "$tmp/t.folded" | tee "$tmp/way"
		[ -s "$tmp/way" ] && ! grep -v ';main;' "$tmp/way" || return 1
	done
}
check 'stacks lead through code that is new' fresh_code_is_followed

# Libraries that are there only for a moment, one where the other was, after a long time without any.
cat >"$tmp/guest.c" <<'EOF2'
#include <time.h>
__attribute__((noinline)) void NAME(void)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 150000000);
	__asm__ volatile("");
}
EOF2
cat >"$tmp/host.c" <<'EOF2'
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	usleep(1500000);
	for (int i = 1; i < argc; i += 2) {
		void *library = dlopen(argv[i], RTLD_NOW);
		((void (*)(void))dlsym(library, argv[i + 1]))();
		dlclose(library);
	}
	return 0;
}
EOF2
gcc -O1 -o "$tmp/host" "$tmp/host.c" || exit 1
for guest in first second; do
	gcc -O1 -fomit-frame-pointer -shared -fPIC -DNAME=in_$guest -o "$tmp/$guest.so" "$tmp/guest.c" || exit 1
done
guests_are_seen() {
	status_is 0 "$trailcam" run --source samples "$@" -o "$tmp/t.folded" -- "$tmp/host" "$tmp/first.so" in_first "$tmp/second.so" in_second 2>"$tmp/err" &&
		says "$tmp/t.folded" 'main;in_first' && says "$tmp/t.folded" 'main;in_second' && ! grep clock_gettime "$tmp/t.folded" | grep -v 'main;in_[a-z]*;clock_gettime'
}
check 'libraries that are loaded late and soon unloaded' guests_are_seen
check 'the same with --follow-forks' guests_are_seen --follow-forks
if ! "$trailcam" run --source intel_pt -o "$tmp/t.tsv" -- true 2>"$tmp/err"; then
	chosen() {
		attached && says "$tmp/err" '--source samples'
	}
	check 'attach chooses samples, and says so' chosen
fi
finish
