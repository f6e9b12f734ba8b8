#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Translated programs do what they do natively, and every instruction is recorded: as the step log has it,
# with addresses that are the same each time.
. tests/e2e/lib.sh
# The one system call that a translated program is refused (rseq) changes how it starts; its environment must
# be the same, too.
GLIBC_TUNABLES=glibc.pthread.rseq=0
export GLIBC_TUNABLES

# The newest branches are told, where packets have no room for all.
keeps_the_newest() {
	for size in 64K 64M; do
		setarch -R "$trailcam" run -v --source translate --snapshot-size $size --keep-recording "$tmp/$size" -o "$tmp/out.fxt.gz" \
			-- "$programs/hot-static" 6000 >/dev/null 2>"$tmp/$size.said" || return 1
		"$trailcam" dump --branches "$tmp/$size" | cut -f3- >"$tmp/$size.branches"
	done
	cnt=$(wc -l <"$tmp/64K.branches")
	says "$tmp/64K.said" 'packets have room for' && ! grep 'packets have room for' "$tmp/64M.said" && [ "$cnt" -gt 10000 ] &&
		tail -n $((cnt - 2)) "$tmp/64K.branches" >"$tmp/newest" && tail -n $((cnt - 2)) "$tmp/64M.branches" | cmp - "$tmp/newest"
}

# huge_pages ANSWER PROGRAM...: whether what a large program shares with us is in huge pages.
huge_pages() {
	answer=$1
	shift
	[ "$("$trailcam" run -q --source translate --follow-forks -o "$tmp/out.fxt.gz" -- "$@" /usr/bin/python3 -c '
import email.message, http.client, json, re, unittest
maps = re.split(r"\n(?=[0-9a-f]+-)", open("/proc/self/smaps").read())
print(any("memfd:trailcam" in m and " hg" in m for m in maps))')" = "$answer" ]
}

# Twice the ring, twice the trace.
reaches_further() {
	for size in 4M 8M; do
		"$trailcam" run -q --source translate --snapshot-size $size --keep-recording "$tmp/$size" -o "$tmp/out.fxt.gz" \
			-- "$programs/hot-static" 50000 >/dev/null || return 1
		size_of_data=$(stat -c %s "$tmp/$size/data")
		echo "$size: $size_of_data bytes"
		rm -r "$tmp/$size"
		echo "$size_of_data" >>"$tmp/sizes"
	done
	awk '{ size[NR] = $1 } END { exit size[2] < 1.8 * size[1] }' "$tmp/sizes"
}

# refuses TEXT ARGUMENT...
refuses() {
	text=$1
	shift
	"$@" >"$tmp/said" 2>&1 </dev/null && return 1
	says "$tmp/said" "$text"
}

# given_back THREADS GAPS MODE: they all say why.
given_back() {
	translate -- "$programs/restricted" "$3" >"$tmp/given" 2>"$tmp/why"
	[ $? -eq 7 ] && "$programs/restricted" "$3" | diff "$tmp/given" - && "$trailcam" report "$tmp/out.fxt.gz" >"$tmp/given" &&
		[ "$(grep -c 'it restricts its system calls' "$tmp/why")" -eq "$1" ] && says "$tmp/given" ", $2," &&
		"$trailcam" decode -q -o "$tmp/given.tsv" "$tmp/out.fxt.gz" &&
		[ "$(grep -c '\[gap: it runs natively: it restricts its system calls' "$tmp/given.tsv")" -eq "$1" ]
}

# From one program to the next, and with libraries that are loaded late: between two programs one trace ends.
all_code_known() {
	translate -- "$@" >/dev/null 2>"$tmp/said" && "$trailcam" decode -q -o "$tmp/late.tsv" "$tmp/out.fxt.gz" &&
		! grep '\[gap' "$tmp/late.tsv" | grep -v 'next snapshot'
}

crash() {
	translate --on-signal SEGV -- sh -c 'kill -SEGV $$' >"$tmp/crash" 2>&1
	"$trailcam" report "$tmp/out.fxt.gz" >"$tmp/crash" && says "$tmp/crash" SIGSEGV && says "$tmp/crash" ' 1 hit,'
}

# The rest of the program runs natively.
goes_on() {
	translate --duration 300ms -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo $i; exit 7' >"$tmp/rest"
	[ $? -eq 7 ] && says "$tmp/rest" 300000
}

# hits SOURCE OPTION...: what each hit of the program has, with addresses that are the same each time. What
# the calls of the trace tell of it (-, and source lines) is left out.
hits() {
	source=$1
	shift
	setarch -R timeout 500 "$trailcam" run -q --source "$source" -o "$tmp/hits.fxt.gz" "$@" >/dev/null 2>"$tmp/hits.err" || cat "$tmp/hits.err"
	"$trailcam" report --hits=1000 --calls=0 "$tmp/hits.fxt.gz" | grep -E '^Hit |  arg[0-9] |    r(ip|dx|bp|9) |    #' | grep -v '#[0-9]* *-' | sed 's/r1[0-9] .*//' | sed 's/ at [0-9.]* [a-z]*:/:/; s/#[0-9]* *0x[0-9a-f]*/#/; s/  [^ ]*:[0-9]*$//'
}

# same_hits CNT OPTION...: the same as at full speed.
same_hits() {
	cnt=$1
	shift
	hits none "$@" >"$tmp/native"
	hits translate "$@" >"$tmp/translated"
	[ "$(grep -c '^Hit' "$tmp/native")" -ge "$cnt" ] && diff "$tmp/native" "$tmp/translated"
}

# A program that dies of the signal that is waited for dies while it is let go.
dies() {
	(ulimit -c 0; translate --on-signal SIGSEGV -- "$programs/exits" segv)
	[ $? -eq 139 ] || return 1
	translate --on-signal SIGTERM -- sh -c 'kill -TERM $$; echo alive' >"$tmp/dies"
	[ $? -eq 143 ] && [ ! -s "$tmp/dies" ]
}

# The call that is hit is the last one of the trace.
ends_at_hit() {
	translate -t table_grow --keep-recording "$tmp/grow" -- "$programs/wordcount" >/dev/null &&
		"$trailcam" report --calls=1 "$tmp/out.fxt.gz" | grep -A20 'the last .* before it' >"$tmp/grow.txt"
	says "$tmp/grow.txt" '+           table_grow'
}

# Each snapshot but the first begins in the call that the one before ended in.
snapshots_go_on() {
	translate -t paced --max-hits 20 --multi-snapshot -- "$programs/paced" >/dev/null &&
		"$trailcam" decode -q -o "$tmp/parts.tsv" "$tmp/out.fxt.gz" && [ "$(cut -f 4 "$tmp/parts.tsv" | grep -c -x paced)" -eq 39 ]
}

# The program itself says between which times each call began. The times of the trace begin anywhere, so that
# there must be one distance with which all of them fit, but for what two clocks differ (20 us).
times_calls() {
	rm -rf "$tmp/paced.rec"
	translate --timer-resolution=high --keep-recording "$tmp/paced.rec" -- "$programs/paced" >"$tmp/paced" &&
		"$trailcam" decode -q -o "$tmp/paced.tsv" "$tmp/out.fxt.gz" &&
		"$trailcam" decode -q --decoder=reference -o "$tmp/reference.tsv" "$tmp/paced.rec" &&
		cmp "$tmp/paced.tsv" "$tmp/reference.tsv" &&
		awk -F '\t' '$4 == "paced" { print $1 }' "$tmp/paced.tsv" | paste -d ' ' - "$tmp/paced" >"$tmp/both" || return 1
	awk 'NF != 3 { exit bad = 1 }
		NR == 1 || $2 - $1 > low { low = $2 - $1 }
		NR == 1 || $3 - $1 < high { high = $3 - $1 }
		END { exit bad || NR != 20 || low > high + 20000 }' "$tmp/both" || {
		cat "$tmp/both"
		return 1
	}
}

# Stopped by job control, in kill(2), and let go on as soon as it is.
stopped() {
	translate -- sh -c '(until grep -q "^State:.[tT]" /proc/$$/status && grep -q "^62 " /proc/$$/syscall; do sleep 0.01; done; kill -CONT $$) & kill -STOP $$; echo on; wait' >"$tmp/stopped"
	says "$tmp/stopped" on
}

follows() {
	translate --follow-forks --keep-recording "$tmp/forks" -- sh -c '/bin/true; /bin/echo hello' >"$tmp/follow" 2>&1 || return 1
	"$trailcam" dump --instructions "$tmp/forks" | cut -d' ' -f1 | sort -u | wc -l >"$tmp/threads"
	says "$tmp/follow" hello && says "$tmp/threads" 3
}

# Two threads fill their rings in some milliseconds, also while these are copied. At each hit of a third one, all
# that their rings hold of the time before is there (a million branches, three for a call, or eight times as
# many); between two snapshots is a gap. There is none but that, since nothing is left in the ring of the time
# when it was copied.
cat >"$tmp/others.c" <<'END'
#include <pthread.h>
#include <unistd.h>
enum { RING_CALLS = 350000 };
volatile unsigned long counts[2], sum;
__attribute__((noinline)) void tick(int i)
{
	sum += (unsigned long)i;
}
__attribute__((noinline)) void work(volatile unsigned long *count)
{
	++*count;
}
static void *spin(void *count)
{
	for (;;)
		work(count);
	return NULL;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, spin, (void *)&counts[i]);
	for (int i = 0; i < 4; i++) {
		unsigned long from[2] = {counts[0], counts[1]};
		while (counts[0] - from[0] < 10 * RING_CALLS || counts[1] - from[1] < 10 * RING_CALLS)
			usleep(1000);
		tick(i);
	}
	return 0;
}
END

# Children of fork(2) have all their calls in the trace, and hits; one of vfork(2) runs natively.
cat >"$tmp/forked.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int sum;
__attribute__((noinline)) void in_child(int i)
{
	sum += i;
}
__attribute__((noinline)) void work(void)
{
	sum++;
}
int main(void)
{
	int status;
	for (int k = 0; k < 5; k++) {
		if (!fork()) {
			for (int i = 0; i < 1000; i++)
				work();
			in_child(k);
			printf("child %d %d\n", k, sum);
			exit(k);
		}
		wait(&status);
		printf("status %d\n", WEXITSTATUS(status));
		fflush(stdout);
	}
	if (!vfork())
		_exit(9);
	wait(&status);
	printf("status %d\n", WEXITSTATUS(status));
	return 3;
}
END

forked() {
	gcc -O1 -o "$tmp/forked" "$tmp/forked.c" || return 1
	"$tmp/forked" >"$tmp/natively"
	translate --follow-forks --keep-recording "$tmp/family" -- "$tmp/forked" >"$tmp/translated" 2>"$tmp/err"
	[ $? -eq 3 ] && cmp "$tmp/natively" "$tmp/translated" && ! grep ' gap' "$tmp/err" || return 1
	[ "$("$trailcam" dump --slices "$tmp/family" | grep -c '	work	')" -eq 5000 ]
}

forked_hits() {
	translate --follow-forks -t in_child --max-hits 9 --keep-recording "$tmp/family" -- "$tmp/forked" >"$tmp/translated" 2>"$tmp/err"
	[ $? -eq 3 ] && cmp "$tmp/natively" "$tmp/translated" || return 1
	"$trailcam" dump --hits "$tmp/family" | awk '$1 == "arg0" { printf "%s ", $2 } $1 == "#0" { print $3 }' | tr '\n' ' ' >"$tmp/hits"
	says "$tmp/hits" '0x0 in_child+0x0 0x1 in_child+0x0 0x2 in_child+0x0 0x3 in_child+0x0 0x4 in_child+0x0'
}

jobs_of_a_shell() {
	cat >"$tmp/jobs.sh" <<-'END'
		f() { echo "in $1 $(echo sub "$1" | tr a-z A-Z)"; ( exit "$1" ); echo "rc $?"; }
		for i in 1 2 3; do f $i | sed 's/in/IN/'; done
		seq 20 | while read -r n; do echo $((n * n)); done | tail -1
		(sleep 0.1; echo later) & wait
		exit 7
	END
	bash "$tmp/jobs.sh" >"$tmp/jobs"
	translate --follow-forks -- bash "$tmp/jobs.sh" >"$tmp/translated" 2>"$tmp/err"
	[ $? -eq 7 ] && cmp "$tmp/jobs" "$tmp/translated" && ! grep ' gap' "$tmp/err"
}

others() {
	gcc -O1 -o "$tmp/others" "$tmp/others.c" -pthread || return 1
	translate --snapshot-size 4M -t tick --skip 1 --max-hits 2 --multi-snapshot --keep-recording "$tmp/two" -- "$tmp/others" >"$tmp/out" 2>&1 || return 1
	"$trailcam" report --json "$tmp/two" | python3 -c '
import json, sys
threads = json.load(sys.stdin)["trace"]["threads"]
print(threads)
busy = [thread["calls"] for thread in threads if thread["calls"] > 50000]
sys.exit(not (len(busy) == 2 and min(busy) > 650000 and all(thread["gaps"] == 1 for thread in threads)))' || return 1
	rm -r "$tmp/two" # two decoders take long for millions of the same loop
}

run="timeout 500 $trailcam run --source translate -o $tmp/none.fxt.gz"
check 'a static program: every instruction' agree calls 40 "$programs/calls"
check 'a dynamic program from its loader on: every instruction' agree wordcount 100000 "$programs/wordcount"
check 'ways that are taken often, with faults in them: every instruction' agree hot 500000 "$programs/hot-static" 400 faults
check 'more than packets have room for: the newest branches' keeps_the_newest
check 'a larger --snapshot-size reaches further back' reaches_further
check 'the same, with a timer: the same output' same 0 "$programs/hot" 3000000 ticks
check 'random code in a file, executed often' same 0 "$programs/random" 7 12 -1 60000
for seed in 1 2 3; do
	check "random code: the same registers and flags, $seed" same 0 "$programs/random" $seed 200
done
check 'signals, faults, breakpoints, forks, threads: the same output and exit status' same 3 "$programs/torture" probed
check 'the next program' same 3 sh -c 'exec "$0" probed' "$programs/torture"
check 'the first thread ends before the others, which execute new code' same 7 "$programs/leaderless"
check 'exceptions' same 0 "$programs/throws"
check 'coroutines' same 0 "$programs/coroutines"
check 'a program of the distribution' same 0 /bin/ls -l /etc/apt
check 'code made at run time, in place of other code, which changes itself: every instruction' agree jit 90000 "$programs/jit"
check 'code that is written through another mapping: every instruction' agree elsewhere 90000 "$programs/jit" elsewhere
check 'code in shared memory: every instruction' agree attached 90000 "$programs/jit" attached
check 'more code than the cache holds' same 0 "$programs/jit" many
if command -v python3 >/dev/null; then
	check 'libraries that are loaded late: no gap' all_code_known sh -c 'exec python3 -c "import json, ctypes, ssl"'
else
	skip 'libraries that are loaded late' 'python3 is not installed'
fi
if [ -x /usr/bin/python3 ] && [ "$(id -u)" = 0 ] && [ -e /sys/kernel/mm/transparent_hugepage/shmem_enabled ]; then
	check 'much code: huge pages' huge_pages True env
	check 'much code of a user who cannot open our file: small pages' huge_pages False setpriv --reuid=65534 --regid=65534 --clear-groups
else
	skip 'huge pages' 'needs root, python3, and a kernel that has some'
fi
check 'a filter of system calls: natively, behind a gap' given_back 1 '1 gap' strict
check 'a filter for all threads: all natively' given_back 2 '2 gaps' filter
check 'a signal ends the recording: what led up to it' crash
check 'the time is up: the program goes on' goes_on
check 'children' follows
check 'forked children: every call, the same output and exit status' forked
check 'the jobs of a shell' jobs_of_a_shell
children_are_free() {
	translate -- bash -c '(grep -c memfd:trailcam /proc/$BASHPID/maps; :); grep -c memfd:trailcam /proc/$$/maps' >"$tmp/memory" 2>&1
	[ "$(tr '\n' ' ' <"$tmp/memory")" = '0 1 ' ]
}
check 'children that nobody follows have nothing of ours' children_are_free
check 'a trigger: the calls up to the hit' ends_at_hit
check 'a snapshot goes on where the one before ended' snapshots_go_on
check 'a signal that is waited for, of which the program dies' dies
if [ -z "$(bpf_missing && echo missing)" ]; then
	check 'each call of a function hits, with the program'"'"'s registers and stack' same_hits 96 -t table_find --max-hits 1000 -- "$programs/wordcount"
	check 'conditions' same_hits 5 -t hash_word --when 'arg1 > 8' --max-hits 5 -- "$programs/wordcount"
	check 'returns' same_hits 7 -t hash_word --when 'ret > 4096' --max-hits 7 -- "$programs/wordcount"
	check 'several functions' same_hits 20 -t 'table_*' --max-hits 20 -- "$programs/wordcount"
	check 'two triggers at one place' same_hits 30 -t table_find --when '*(char *)arg1 == 119' -t table_find --when '*(char *)arg1 == 116' --max-hits 50 -- "$programs/wordcount"
	check 'hits in forked children' forked_hits
	check 'the rings of other threads, as they were at a hit' others
	check 'a function of a library' same_hits 2 -t libc.so.6:puts --max-hits 4 -- "$programs/torture" probed
fi
check 'job control' stopped
check 'calls stand at their times' times_calls
other_resolution() {
	timeout 500 $trailcam run --source translate --timer-resolution=low -o "$tmp/t.fxt" -- true 2>"$tmp/err" && says "$tmp/err" 'this is normal'
}
check 'other resolutions than it has' other_resolution
# Each thread has a ring, as far as a quarter of the memory goes: at least 62 have.
many_threads() {
	cnt=60
	[ "$(awk '/MemAvailable/ { print $2 }' /proc/meminfo)" -lt 16000000 ] || cnt=200
	echo | status_is 0 $run -t marker -o "$tmp/t.tsv" -- "$programs/crowd" all $cnt >"$tmp/out" 2>"$tmp/err" &&
		says "$tmp/out" "$cnt did their part" && says "$tmp/err" "in $((cnt + 1)) threads, 1 hit;" &&
		[ "$(grep -c 'do_part' "$tmp/t.tsv")" -eq $cnt ]
}
# With less of it the others go on natively, and that is said.
too_many_threads() {
	(ulimit -v 6000000 && echo | status_is 0 $run -t marker -o "$tmp/t.tsv" -- "$programs/crowd" all 150 >"$tmp/out" 2>"$tmp/err") &&
		says "$tmp/out" '150 did their part' && says "$tmp/err" 'the program has too many threads'
}
check 'many threads' many_threads
check 'more threads than have rings' too_many_threads
# A gs base of its own, which it goes on with natively.
cat >"$tmp/gs.c" <<'EOF'
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static unsigned long cell = 42;
int main(void)
{
	unsigned long seen = 42;
	syscall(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, &cell);
	for (time_t begin = time(NULL); time(NULL) - begin < 3 && seen == 42;)
		__asm__ volatile("movq %%gs:0, %0" : "=r"(seen));
	puts(seen == 42 ? "right" : "wrong");
	return 0;
}
EOF
keeps_gs() {
	gcc -O1 -o "$tmp/gs" "$tmp/gs.c" && timeout 500 "$trailcam" run -q --source translate --duration 500ms -o "$tmp/t.fxt" -- "$tmp/gs" >"$tmp/out" 2>"$tmp/err" &&
		says "$tmp/out" right
}
check 'a base of gs that the program has set stays' keeps_gs
asks_about_seccomp() {
	translate -- "$programs/restricted" ask >"$tmp/asked" 2>"$tmp/why"
	[ $? -eq 7 ] && "$programs/restricted" ask | diff "$tmp/asked" - && [ ! -s "$tmp/why" ]
}
check 'a program that only asks what filters there are' asks_about_seccomp
check 'a step log is refused' refuses 'the source here is translate' $run --step-log "$tmp/log" -- ls
check 'allocations are refused' refuses 'allocators are not watched' $run --memtrace -- ls
check 'the kernel is refused' refuses '--kernel belongs to --source intel_pt' $run --kernel -- ls
check 'all processors are refused' refuses '--cpu-wide belongs to --source intel_pt' $run --cpu-wide -- ls
check 'filters are refused' refuses '--filter belongs to --source intel_pt' $run --filter main -- ls
# Others may not read the directory of the build, if it is root's.
chmod 755 "$tmp" && cp "$trailcam" "$tmp/trailcam"
unprivileged="setpriv --reuid=65534 --clear-groups timeout 500 $tmp/trailcam run --source translate -o /dev/null"
check 'a setuid program is refused' refuses 'files give rights' $unprivileged -- /bin/mount
check 'a setuid program is refused to its owner, too' refuses 'use --source samples' $run -- /bin/mount
check 'without privileges' $unprivileged -- /bin/true
finish
