#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# perf.data with samples in it and no trace, as perf records on any processor: stacks are those that perf
# script shows of the same file.
. tests/e2e/lib.sh

if ! perf record -q -e cpu-clock:u -o "$tmp/probe" true >"$tmp/perf.err" 2>&1; then
	skip 'samples of perf record' "perf records none here: $(tail -1 "$tmp/perf.err")"
	finish
fi

# Calls that last, with and without frame pointers, in a program whose names are its own.
cat >"$tmp/burn.c" <<'EOF'
volatile unsigned long sink;
__attribute__((noinline)) void leaf_one(int n) { for (int i = 0; i < n; i++) sink += (unsigned long)i * 3; }
__attribute__((noinline)) void leaf_two(int n) { for (int i = 0; i < n; i++) sink ^= (unsigned long)i * 7; }
__attribute__((noinline)) void middle(int depth, int n)
{
	if (depth) {
		middle(depth - 1, n);
	} else {
		leaf_one(n);
		leaf_two(n);
	}
	sink++;
}
int main(void)
{
	for (int i = 0; i < 60; i++)
		middle(i % 5, 1000000);
	for (int i = 0; i < 300; i++)
		((volatile char *)__builtin_malloc(1 << 20))[i * 4096] = 1;
	return 0;
}
EOF

# stacks FILE OUTPUT: the program's own functions (of the C library's names there are several), and how long
# each stack took.
stacks() {
	"$trailcam" decode -o "$tmp/x.folded" "$1" 2>"$tmp/err" && sed -nE 's/^.*;main([; ])/main\1/p' "$tmp/x.folded" | grep -v malloc | sort >"$2"
}

# same_as_perf RECORD-OPTIONS SCRIPT-OPTIONS COMPILER-FLAGS NAME
same_as_perf() {
	# Without lazy binding: perf does not find out of the code that does it.
	# shellcheck disable=SC2086
	gcc $3 -g -Wl,-z,now -o "$tmp/burn" "$tmp/burn.c" && perf record -q $1 -o "$tmp/$4.data" "$tmp/burn" >"$tmp/perf.err" 2>&1 || {
		cat "$tmp/perf.err"
		return 1
	}
	perf script $2 --ns -F pid,tid,time,event,period,ip,sym,symoff,dso -i "$tmp/$4.data" >"$tmp/text" 2>"$tmp/perf.err"
	stacks "$tmp/$4.data" "$tmp/ours" && stacks "$tmp/text" "$tmp/theirs" && [ "$(wc -l <"$tmp/ours")" -ge 8 ] && diff "$tmp/theirs" "$tmp/ours"
}
check 'frame pointers, by the kernel' same_as_perf '-e cpu-clock:u -g' '' '-O1 -fno-omit-frame-pointer' fp
check 'copies of the stack, unwound' same_as_perf '-e cpu-clock:u --call-graph dwarf,2048' '--no-inline' '-O2 -fomit-frame-pointer' dwarf
check 'compressed' same_as_perf '-z -e cpu-clock:u --call-graph dwarf,2048' '--no-inline' '-O2 -fomit-frame-pointer' packed

through_a_pipe() {
	perf record -q -e cpu-clock:u --call-graph dwarf,2048 -o - "$tmp/burn" >"$tmp/pipe.data" 2>"$tmp/perf.err"
	stacks "$tmp/pipe.data" "$tmp/ours" && grep -q 'middle;leaf_two' "$tmp/ours"
}
check 'written to a pipe' through_a_pipe

# The kernel's part is one frame where its names are not in the file; what is counted rises.
with_kernel_and_counts() {
	perf record -q -e cpu-clock,page-faults -g -o "$tmp/kernel.data" "$tmp/burn" >"$tmp/perf.err" 2>&1
	"$trailcam" decode -o "$tmp/k.folded" -o "$tmp/k.json" "$tmp/kernel.data" 2>"$tmp/err" && grep -q ';\[kernel\] ' "$tmp/k.folded" && ! grep -q '\[kernel\];\[kernel\]' "$tmp/k.folded" &&
		perf script -F event,period -i "$tmp/kernel.data" 2>/dev/null | awk '/page-faults/ { sum += $1 } END { print sum }' >"$tmp/theirs" && python3 -c '
import json, sys
trace = json.load(open(sys.argv[1]))
trace = trace["traceEvents"] if isinstance(trace, dict) else trace
print(max(int(next(iter(e["args"].values()))) for e in trace if e["ph"] == "C" and "page-faults" in e["name"]))' "$tmp/k.json" >"$tmp/ours" && diff "$tmp/theirs" "$tmp/ours"
}
check 'the kernel, and page faults' with_kernel_and_counts

# Without call stacks, where it was.
without_stacks() {
	perf record -q -e cpu-clock:u -o "$tmp/plain.data" "$tmp/burn" >"$tmp/perf.err" 2>&1
	"$trailcam" decode -o "$tmp/p.folded" "$tmp/plain.data" 2>"$tmp/err" && grep -qE '^[^;]*;leaf_one [0-9]+$' "$tmp/p.folded" && ! grep -v ';\[unknown\] ' "$tmp/p.folded" | grep -q ';.*;'
}
check 'without call stacks' without_stacks

all_commands() {
	"$trailcam" report "$tmp/dwarf.data" >"$tmp/report" && says "$tmp/report" 'leaf_one' && says "$tmp/report" "perf's samples" && ! grep -q 1970 "$tmp/report" &&
		"$trailcam" view -o "$tmp/page.html" "$tmp/dwarf.data" && "$trailcam" decode --from main --to main -o "$tmp/x.txt" "$tmp/dwarf.data" 2>"$tmp/err"
	"$trailcam" dump --slices "$tmp/dwarf.data" | grep -q 'leaf_two' && "$trailcam" dump --sideband "$tmp/dwarf.data" | grep -q 'exec .* burn'
}
check 'report, view and dump read it, too' all_commands

# Samples of nothing, and of a file that ends too early.
refused() {
	head -c $(($(stat -c %s "$tmp/dwarf.data") / 2)) "$tmp/dwarf.data" >"$tmp/cut.data"
	status_is 1 "$trailcam" decode -o "$tmp/x.txt" "$tmp/cut.data" 2>"$tmp/err" && says "$tmp/err" 'cut off'
}
check 'a file that is cut off' refused

# A program that knows its own calls: none is cut in two, and edges lie within a period of where they are.
true_slices() {
	python3 tests/e2e/samples_truth.py "$tmp/log" "$tmp/truth.json" >"$tmp/truth" 2>&1 || {
		cat "$tmp/truth"
		return 1
	}
}
true_to_perf() {
	perf record -q -k CLOCK_MONOTONIC --switch-events -e cpu-clock:u -F 2000 --call-graph dwarf,4096 -o "$tmp/truth.data" "$programs/logged" >"$tmp/log" 2>"$tmp/perf.err" &&
		"$trailcam" decode -o "$tmp/truth.json" "$tmp/truth.data" 2>"$tmp/err" && true_slices
}
check 'calls that the program logged, by perf' true_to_perf

true_to_source() {
	"$trailcam" run --source samples --frequency 2000 -o "$tmp/truth.json" -- "$programs/logged" >"$tmp/log" 2>"$tmp/err" && true_slices
}
hit_joins() {
	"$trailcam" run --source samples -t epsilon --skip 50 -o "$tmp/hit.json" -- "$programs/logged" >"$tmp/log" 2>"$tmp/err" && says "$tmp/err" 'hit epsilon' &&
		python3 tests/e2e/samples_hit.py "$tmp/log" "$tmp/hit.json" epsilon 51
}
slow_call_is_exact() {
	"$trailcam" run --source samples -t epsilon --slower-than "$1" --skip 20 -o "$tmp/hit.json" -- "$programs/logged" >"$tmp/log" 2>"$tmp/err" && says "$tmp/err" 'hit epsilon' &&
		python3 tests/e2e/samples_hit.py "$tmp/log" "$tmp/hit.json" epsilon slow
}
# waits_for WHAT NAME FUNCTION WOKEN_BY BEHIND: the report of a wait whose cause is known names it.
waits_for() {
	"$trailcam" run --source samples -o "$tmp/waits.fxt" -- "$programs/waits" "$1" 2>"$tmp/err" && "$trailcam" report --json --top 1000 "$tmp/waits.fxt" >"$tmp/waits.json" && python3 -c '
import json, re, sys
_, path, name, function, woken_by, behind = sys.argv
waits = json.load(open(path))["waits"]
if not any(w["name"] == name and re.fullmatch(function, w["function"]) and re.search(woken_by, w["woken_by"]) and re.search(behind, w["behind"])
           for w in waits):
    sys.exit("\n".join(map(str, waits)))' "$tmp/waits.json" "$2" "$3" "$4" "$5"
}
# By the lock's name, as the language has it.
lock_named() {
	waits_for lock '[off-cpu] futex_wait' '.*' '^holder \(tid' '' && "$trailcam" report --wide "$tmp/waits.fxt" >"$tmp/report" &&
		grep -q 'futex_wait of lock in .*woken by holder' "$tmp/report" || return 1
	cat >"$tmp/named.cc" <<-'EOF'
		#include <atomic>
		#include <fstream>
		#include <mutex>
		#include <string>
		#include <thread>
		#include <unistd.h>
		namespace cache { std::mutex lock; }
		std::atomic<int> tid;
		extern "C" __attribute__((noinline)) void has_lock() { asm volatile(""); }
		bool waits()
		{
			std::string word;
			std::ifstream stat("/proc/self/task/" + std::to_string(tid) + "/stat");
			while (stat >> word && word != "S")
				;
			return word == "S";
		}
		int main()
		{
			cache::lock.lock();
			std::thread other([] { tid = gettid(); cache::lock.lock(); has_lock(); cache::lock.unlock(); });
			while (!waits())
				usleep(50000);
			cache::lock.unlock();
			other.join();
		}
	EOF
	g++ -O1 -pthread -o "$tmp/named" "$tmp/named.cc" && "$trailcam" run --source samples -t has_lock -o "$tmp/named.fxt" -- "$tmp/named" 2>"$tmp/err" &&
		"$trailcam" report --wide "$tmp/named.fxt" >"$tmp/report" && grep -q 'futex_wait of cache::lock in ' "$tmp/report" &&
		grep -q '^ .* \[off-cpu\] futex_wait, cache::lock, woken by named after' "$tmp/report" &&
		"$trailcam" report "$tmp/named.fxt" >"$tmp/report" && grep -q 'cache::lock, woken by named after' "$tmp/report"
}
# Each page is touched in one place, whatever call is open at that time as far as ticks show.
faults_of() {
	waits_for fault '[page fault]' touch_pages '' '' && python3 -c '
import json, sys
faults = [w for w in json.load(open(sys.argv[1]))["waits"] if w["name"] == "[page fault]" and w["function"] == "touch_pages"]
assert [w["times"] for w in faults] == [20000], faults' "$tmp/waits.json"
}
# A timer interrupts whatever runs, which has no part in it.
woken_by_timer() {
	waits_for lock '[off-cpu] clock_nanosleep' clock_nanosleep '^a timer$' '' && "$trailcam" report --wide --top 1000 "$tmp/waits.fxt" >"$tmp/report" &&
		! grep 'clock_nanosleep.*woken by' "$tmp/report" | grep -v 'woken by a timer'
}
# Only the reader is recorded.
woken_by_stranger() {
	mkfifo "$tmp/pipe" && (exec sh -c 'exec 3>"$0"; for i in 1 2 3 4 5; do sleep 0.1; echo $i; done >&3' "$tmp/pipe") &
	"$trailcam" run --source samples -o "$tmp/read.fxt" -- cat "$tmp/pipe" >"$tmp/out" 2>"$tmp/err" && wait $! && "$trailcam" report --wide "$tmp/read.fxt" >"$tmp/report" &&
		grep -q '\[off-cpu\] read.*woken by sh (tid' "$tmp/report" &&
		"$trailcam" report "$tmp/read.fxt" >"$tmp/report" && grep -A 1 '\[off-cpu\] read' "$tmp/report" | grep -q 'woken by sh (tid' &&
		! grep -q '.\{81\}\|^stopped by' "$tmp/report"
}
# What descriptors stood for when they were waited at, though the program is gone when the trace is written.
# files_named OPTION...
files_named() {
	rm -rf "$tmp/files" && mkdir "$tmp/files" &&
		"$trailcam" run --source samples "$@" -o "$tmp/files.json" --keep-recording "$tmp/files/recording" -- python3 -S tests/e2e/samples_files.py "$tmp/files" >"$tmp/out" 2>"$tmp/err" &&
		same_again "$tmp/files/recording" "$tmp/files.json" && python3 -c '
import json, re, sys
events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] in "BX"]
missing = [line for line in open(sys.argv[2]).read().splitlines() if not any(re.fullmatch(line, e["name"]) for e in events)]
assert not missing, (missing, sorted({e["name"] for e in events if "off-cpu" in e["name"]}))
args = {e["args"]["counted_as"]: e["args"] for e in events if e.get("args", {}).get("kind") == "off-cpu"}
assert args["[off-cpu] poll"]["timeout_ns"] == 60000000, args["[off-cpu] poll"]
assert args["[off-cpu] read"]["refers_to"] in args["[off-cpu] read"]["about"] and args["[off-cpu] read"]["fd"] >= 0' "$tmp/files.json" "$tmp/out"
}
system_calls_named() {
	files_named --syscalls && grep -qF '"[syscall] read, eventfd"' "$tmp/files.json"
}
# A thread that is sent to another processor, and the clock's interrupts while it computes.
moved_and_interrupted() {
	[ "$(nproc)" -gt 1 ] || return 0
	"$trailcam" run --source samples --interrupts -o "$tmp/moved.json" --keep-recording "$tmp/moved" -- python3 -c '
import os, time
first, second = sorted(os.sched_getaffinity(0))[:2]
for cpu in first, second, first:
    os.sched_setaffinity(0, {cpu})
    end = time.process_time() + 0.05
    while time.process_time() < end: pass' 2>"$tmp/err" && same_again "$tmp/moved" "$tmp/moved.json" && python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
moves = [(e["args"]["from"], e["args"]["to"]) for e in events if e["ph"] == "i" and e["name"] == "migrated"]
assert any(one != other and (other, one) in moves for one, other in moves), moves
assert sum(e["name"] == "[irq] clock" for e in events) > 10' "$tmp/moved.json"
}
# On a busy machine others may be before both of them: then once more.
in_three() {
	"$@" || "$@" || "$@"
}
behind_hog() {
	waits_for hog '[run-queue]' '' '^$' '^hog$' && "$trailcam" decode -o "$tmp/hog.txt" "$tmp/waits.fxt" 2>"$tmp/err" &&
		says "$tmp/hog.txt" '[run-queue] behind hog for'
}
# A cgroup may run for 5 ms in each 100, in the hierarchy that limits that, whichever it is.
limited() {
	timeout 500 "$trailcam" run --source samples -o "$tmp/limited.txt" -- \
		sh -c "echo \$\$ >$1/cgroup.procs; i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done" 2>"$tmp/err"
	says "$tmp/limited.txt" '[run-queue] behind its cpu limit for'
}
make_limited() {
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		mkdir "$1" && echo '5000 100000' >"$1/cpu.max"
	else
		mkdir "$1" && echo 5000 >"$1/cpu.cfs_quota_us"
	fi 2>/dev/null
}
# A tick takes a microsecond at least.
warned_of_cost() {
	"$trailcam" run --source samples --frequency 50000 -o "$tmp/t.tsv" -- true 2>"$tmp/err" && grep -qE 'take [0-9]+ % of the time of what runs: a tick takes [0-9.]+ us' "$tmp/err" &&
		"$trailcam" run --source samples -o "$tmp/t.tsv" -- true 2>"$tmp/err" && ! grep -q 'of the time of what runs' "$tmp/err"
}
too_many() {
	limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	[ "$limit" -ge 50000 ] || status_is 125 "$trailcam" run --source samples --frequency $((limit + 1)) -o "$tmp/t.tsv" -- true 2>"$tmp/err"
	status_is 125 "$trailcam" run --source samples --frequency 50001 -o "$tmp/t.tsv" -- true 2>"$tmp/err" && says "$tmp/err" 'is not from 1 to 50000'
}
# A limit that cannot be raised is told together with what it takes; one that can is, and the program keeps its own.
few_descriptors() {
	for limit in 10 20 40; do
		(ulimit -n $limit && status_is 125 "$trailcam" run --source samples -o "$tmp/t.tsv" -- true) 2>"$tmp/err" || return 1
		grep -qE "^trailcam: --source samples needs [0-9]+ file descriptors, and this process may have $limit: raise that \(ulimit -n [0-9]+\)$" "$tmp/err" &&
			[ "$(wc -l <"$tmp/err")" = 1 ] || return 1
	done
	needs=$(sed -n 's/.*needs \([0-9]*\) .*/\1/p' "$tmp/err")
	(ulimit -n "$needs" && status_is 0 "$trailcam" run --source samples -o "$tmp/t.tsv" -- true) 2>"$tmp/err" &&
		(ulimit -Sn 30 && "$trailcam" run --source samples -o "$tmp/t.tsv" -- sh -c 'ulimit -Sn') >"$tmp/out" 2>"$tmp/err" && [ "$(cat "$tmp/out")" = 30 ]
}
check 'a frequency that costs much is warned of' warned_of_cost
check 'no such frequency' too_many
# As they are recorded one by one, but for faults of the kernel's own code that touches the program's memory.
# Others touch memory on the same processors meanwhile.
counted() {
	"$trailcam" run --source samples --events page-faults,context-switches -o "$tmp/counted.json" --keep-recording "$tmp/counted" -- "$programs/waits" fault 2>"$tmp/err" &&
		same_again "$tmp/counted" "$tmp/counted.json" && python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
top = lambda name: max([int(next(iter(e["args"].values()))) for e in events if e["ph"] == "C" and name in e["name"]], default=0)
faults = sum("[page fault" in e["name"] for e in events if e["ph"] == "i")
assert faults > 20000 and faults <= top("page-faults") < faults + 100, (faults, top("page-faults"))
assert top("context-switches") >= 1, top("context-switches")' "$tmp/counted.json"
}
counted_beside_others() {
	timeout 60 sh -c 'while :; do "$0" fault; done' "$programs/waits" &
	others=$!
	counted
	status=$?
	kill $others
	return $status
}
not_counted() {
	status_is 125 "$trailcam" run --source samples --events page-faults,nothing -o "$tmp/t.tsv" -- true 2>"$tmp/err" && says "$tmp/err" "there is no event 'nothing'" || return 1
	status_is 125 "$trailcam" run --source samples --events page-faults,page-faults -o "$tmp/t.tsv" -- true 2>"$tmp/err" && says "$tmp/err" 'is there twice' || return 1
	status_is 125 "$trailcam" run --source none --on-exit 0 --events page-faults -o "$tmp/t.tsv" -- true 2>"$tmp/err" && says "$tmp/err" 'belong to --source samples' || return 1
	perf stat -e branch-misses true 2>&1 | grep -q 'not supported' || return 0
	status_is 125 "$trailcam" run --source samples --events branch-misses -o "$tmp/t.tsv" -- true 2>"$tmp/err" && says "$tmp/err" 'this machine cannot count branch-misses'
}
# In a pid namespace process numbers are its own, and those outside of it have none.
in_namespace() {
	unshare --pid --fork --mount-proc "$@"
}
true_in_namespace() {
	in_namespace "$trailcam" run --source samples --frequency 2000 -t epsilon --skip 50 -o "$tmp/truth.json" -- "$programs/logged" >"$tmp/log" 2>"$tmp/err" &&
		! grep -q 'without BPF' "$tmp/err" && says "$tmp/err" 'hit epsilon' && python3 tests/e2e/samples_hit.py "$tmp/log" "$tmp/truth.json" epsilon 51
}
# A thread has no number any more when it runs for the last time.
ends_in_namespace() {
	in_namespace "$trailcam" run --source samples -o "$tmp/ends.json" --keep-recording "$tmp/ends" -- python3 -S -c '
import threading
for _ in range(50):
    thread = threading.Thread(target=sum, args=(range(10000),))
    thread.start()
    thread.join()' 2>"$tmp/err" && [ "$(grep -c '"thread_name"' "$tmp/ends.json")" -ge 50 ] && ! grep -F '"name":"-1"' "$tmp/ends.json" &&
		same_again "$tmp/ends" "$tmp/ends.json"
}
lock_in_namespace() {
	printf '#!/bin/sh\nexec unshare --pid --fork --mount-proc %s "$@"\n' "$trailcam" >"$tmp/here" && chmod +x "$tmp/here" &&
		trailcam=$tmp/here waits_for lock '[off-cpu] futex_wait' '.*' '^holder \(tid [0-9]{1,2}\)' ''
}
woken_from_outside() {
	mkfifo "$tmp/outside" && (exec sh -c 'exec 3>"$0"; for i in 1 2 3 4 5; do sleep 0.1; echo $i; done >&3' "$tmp/outside") &
	in_namespace "$trailcam" run --source samples -o "$tmp/read.fxt" -- cat "$tmp/outside" >"$tmp/out" 2>"$tmp/err" && wait $! && "$trailcam" report --wide "$tmp/read.fxt" >"$tmp/report" &&
		grep -q '\[off-cpu\] read.*woken by sh' "$tmp/report" && ! grep -q 'tid -1' "$tmp/report"
}
# Two threads whose numbers share a place wake each other: either is in it only until it runs. Both could run at
# the same time if others came between, or a timer: so they are none that wait for others, and of two processes,
# since Python's threads wait for each other with a limit of time.
share_a_place_once() {
	in_namespace "$trailcam" run --source samples --follow-forks -o "$tmp/t.tsv" -- python3 -S -c '
import os
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except OSError:
    pass
other = os.getpid() + (1 << 14)
with open("/proc/sys/kernel/ns_last_pid", "w") as last:
    last.write(str(other - 1))
to, back = os.pipe(), os.pipe()
child = os.fork()
if not child:
    os.close(to[1])
    for _ in range(300):
        os.read(to[0], 1)
        os.write(back[1], b"x")
    os._exit(0)
assert child == other
for _ in range(300):
    os.write(to[1], b"x")
    os.read(back[0], 1)
os.waitpid(child, 0)' 2>"$tmp/err" && says "$tmp/err" 'exit status 0' && ! grep -qE '[0-9]{3} waits for a processor do not say' "$tmp/err"
}
share_a_place() {
	share_a_place_once || share_a_place_once || share_a_place_once
}
# Between two switches out of a thread there is one into it, also where the kernel hides a process and with it
# the switch from that one to ours: busy threads are switched to from whatever else runs.
switches_alternate() {
	rm -f "$tmp/counters"
	{ wait_until test -s "$tmp/counters" && sleep 3 && rm "$tmp/counters"; } &
	"$trailcam" run --source samples --keep-recording "$tmp/switches" -o "$tmp/t.tsv" -- "$programs/busy" "$tmp/counters" "$(nproc)" 2>"$tmp/err" && wait $! &&
		perf script -i "$tmp/switches/data" -F tid,event 2>"$tmp/perf.err" |
		awk '$2 == "switch-out:" { if (last[$1] == $2) bad++; cnt++ } { if ($2 ~ /^switch/) last[$1] = $2 } END { if (cnt < 100 || bad) { print cnt " switches out, not in before: " bad; exit 1 } }'
}
# A thread that has ended does not wait for a processor.
ended() {
	"$trailcam" run --source samples -o "$tmp/ended.csv" -- python3 -c '
import threading, time
threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
time.sleep(0.7)' 2>"$tmp/err" && python3 -c '
import csv, sys
ends = {}
for row in csv.DictReader(open(sys.argv[1])):
    ends[row["tid"]] = max(ends.get(row["tid"], 0), int(row["start_ns"]) + int(row["duration_ns"]))
last = max(ends.values())
assert len(ends) == 9 and sum(end > last - 500000000 for end in ends.values()) == 1, ends' "$tmp/ended.csv"
}
# Threads that wait all the time leave no record, but are seen where the recording ends.
waits_all_along() {
	python3 -S -c '
import threading, time
lock = threading.Lock()
lock.acquire()
threading.Thread(target=lock.acquire, daemon=True).start()
print(flush=True)
time.sleep(60)' >"$tmp/ready" &
	hung=$!
	wait_until test -s "$tmp/ready" && wait_until asleep $hung
	"$trailcam" attach --source samples --duration 300ms -o "$tmp/hung.json" --keep-recording "$tmp/hung" $hung 2>"$tmp/err" &&
		same_again "$tmp/hung" "$tmp/hung.json"
	status=$?
	kill $hung
	[ $status = 0 ] && python3 -c '
import json, sys
events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] in "BX"]
waits = {e["args"]["counted_as"]: e for e in events if e.get("args", {}).get("kind") == "off-cpu"}
assert set(waits) == {"[off-cpu] futex_wait", "[off-cpu] clock_nanosleep"}, waits
names = {wait: {e["name"] for e in events if e["tid"] == waits[wait]["tid"]} for wait in waits}
assert any("lock" in name for name in names["[off-cpu] futex_wait"]), names
assert any("sleep" in name for name in names["[off-cpu] clock_nanosleep"] - set(waits)), names
assert not any("ptrace-stop" in e["name"] or "run-queue" in e["name"] for e in events)' "$tmp/hung.json"
}
# A wait has its name and its stack, too, if it begins before the recording does and ends in it.
cat >"$tmp/early.c" <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int ends[2];
__attribute__((noinline)) static int waits_early(void) { char c; return (int)read(ends[0], &c, 1) + 1; }
__attribute__((noinline)) void woken_late(int n) { __asm__ volatile("" : : "r"(n)); }
static void *works(void *p) { woken_late(waits_early()); return p; }
int main(void)
{
	pthread_t thread;
	if (pipe(ends) || pthread_create(&thread, NULL, works, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	getchar();
	return write(ends[1], "x", 1) != 1 || pthread_join(thread, NULL);
}
EOF
waited_before() {
	gcc -O1 -w -o "$tmp/early" "$tmp/early.c" -lpthread && rm -f "$tmp/go" && mkfifo "$tmp/go" || return 1
	"$tmp/early" <"$tmp/go" >"$tmp/ready" &
	early=$!
	exec 9>"$tmp/go"
	wait_until test -s "$tmp/ready" && wait_until asleep $early
	"$@" "$trailcam" attach -v --source samples -t woken_late -o "$tmp/early.json" $early 2>"$tmp/err" &
	attaching=$!
	wait_until grep -qs 'debug: attached' "$tmp/err"
	echo >&9
	exec 9>&-
	wait $attaching && wait $early && python3 -c '
import json, sys
events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] in "BX"]
found = [e for e in events if e["name"].startswith("[off-cpu] read, pipe ") and "woken by early after at least " in e["name"]]
assert len(found) == 1, [e["name"] for e in events]
assert "waits_early" in {e["name"] for e in events if e["tid"] == found[0]["tid"]}' "$tmp/early.json"
}
# $spinning runs all the time.
spin() {
	python3 -S -c 'while True: pass' &
	spinning=$!
}
# halted TRACE HALT GO: a recording of $spinning, which one command halts and the other one lets go on.
halted() {
	"$trailcam" attach -v --source samples -o "$1" $spinning 2>"$tmp/err" &
	recording=$!
	wait_until grep -qs 'debug: attached' "$tmp/err"
	$2
	sleep 1
	$3
	sleep 0.3
	kill -TERM $recording
	wait $recording
	kill -9 $spinning
}
# The session holds the targets, which changes how the kernel stops and wakes them: that is not shown. The stop
# begins once the session has let it, which may take a while on a busy machine.
stopped_by_user() {
	spin
	halted "$tmp/stopped.json" "kill -STOP $spinning" "kill -CONT $spinning"
	python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
waits = {}
for e in events:
    if e["ph"] == "B" and e.get("args", {}).get("kind") == "off-cpu":
        begin, name, by = e["ts"], e["args"]["counted_as"], e["args"].get("woken_by", "")
        end = min(x["ts"] for x in events if x["ph"] == "E" and x["tid"] == e["tid"] and x["ts"] >= begin)
        waits.setdefault(name, []).append((begin, end, by))
begin, end, by = max(waits["[off-cpu] stopped"], key=lambda wait: wait[1] - wait[0])
assert end - begin > 250000 and "trailcam" not in by, waits
assert not any(b < end and begin < e for b, e, _ in waits.get("[off-cpu] ptrace-stop", [])), waits' "$tmp/stopped.json"
}
stopped_all_along() {
	spin
	wait_until grep -q '^State:.*running' /proc/$spinning/status
	kill -STOP $spinning
	wait_until grep -q '^State:.*stopped' /proc/$spinning/status
	"$trailcam" attach --source samples --duration 300ms -o "$tmp/stopped.json" $spinning 2>"$tmp/err"
	kill -KILL $spinning
	python3 -c '
import json, sys
waits = {e["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "B" and e.get("args", {}).get("kind") == "off-cpu"}
assert waits == {"[off-cpu] stopped"}, waits' "$tmp/stopped.json"
}
# io_uring's thread in the process has the registers of the call that made it, but is not in that call.
cat >"$tmp/ring.c" <<'EOF'
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 20};
	int fd = (int)syscall(SYS_io_uring_setup, 4, &params);
	usleep(200000);
	return fd < 0 ? 77 : 0;
}
EOF
kernel_worker() {
	"$trailcam" run --source samples -o "$tmp/ring.json" -- "$tmp/ring" 2>"$tmp/err" && python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
names = {e["name"].split(",")[0] for e in events if e["ph"] == "B" and e["tid"] != e["pid"]}
assert "[off-cpu]" in names and not [name for name in names if "unknown" in name or "io_uring" in name], names' "$tmp/ring.json"
}
# A poll(2) that the kernel restarts goes on as another call.
restarted() {
	python3 -S -c 'import select
print(flush=True)
select.poll().poll(60000)' >"$tmp/polling" &
	hung=$!
	wait_until test -s "$tmp/polling" && wait_until asleep $hung
	kill -STOP $hung
	wait_until grep -qs '^State:.*stopped' /proc/$hung/status
	kill -CONT $hung
	"$trailcam" attach --source samples --duration 300ms -o "$tmp/restarted.json" $hung 2>"$tmp/err"
	kill $hung
	python3 -c '
import json, sys
waits = {e["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "B" and e.get("args", {}).get("kind") == "off-cpu"}
assert waits == {"[off-cpu] poll"}, waits' "$tmp/restarted.json"
}
# A lock with a deadline of 0.2 s, which the program takes from its own clock; and one without, by a process that
# trailcam attaches to with such a clock.
in_time_namespace() {
	# shellcheck disable=SC2016
	python3=$(command -v python3) && unshare -T --fork --monotonic 100000 sh -c 'exec "$@"' sh \
		"$trailcam" run --source samples -o "$tmp/late.json" -- "$python3" -S -c 'import _thread
lock = _thread.allocate_lock()
lock.acquire()
lock.acquire(timeout=0.2)' 2>"$tmp/err" || return 1
	"$python3" -S -c 'import _thread
lock = _thread.allocate_lock()
lock.acquire()
print(flush=True)
lock.acquire()' >"$tmp/late" &
	hung=$!
	wait_until test -s "$tmp/late" && wait_until asleep $hung
	unshare -T --fork --monotonic 100000 "$trailcam" attach --source samples --duration 300ms -o "$tmp/hung.json" $hung 2>"$tmp/err"
	kill $hung
	python3 -c '
import json, sys
def wait(path):
    events = json.load(open(path))["traceEvents"]
    begin = next(e for e in events if e["ph"] == "B" and e["name"].startswith("[off-cpu] futex_wait"))
    return begin, min(e["ts"] for e in events if e["ph"] == "E" and e["tid"] == begin["tid"] and e["ts"] >= begin["ts"])
begin, end = wait(sys.argv[1])
assert 1e8 < begin["args"]["timeout_ns"] <= 2e8, begin
begin, end = wait(sys.argv[2])
assert begin["ts"] < 1e7 and end - begin["ts"] > 250000, (begin, end)' "$tmp/late.json" "$tmp/hung.json"
}
# frozen CGROUP
frozen() {
	freeze() { echo "$1" >"$cgroup/cgroup.freeze"; }
	cgroup=$1
	spin
	echo $spinning >"$cgroup/cgroup.procs"
	halted "$tmp/frozen.json" 'freeze 1' 'freeze 0'
	python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
waits = {e["name"] for e in events if e["ph"] == "B" and "[off-cpu]" in e["name"]}
assert any(name.startswith("[off-cpu] frozen, woken by ") for name in waits), waits' "$tmp/frozen.json"
}
# Its system calls have other numbers: 162 is none that waits.
of_32_bit() {
	cat >"$tmp/narrow.c" <<-'EOF'
		void _start(void)
		{
			static const int time[2] = {0, 100000000};
			int result;
			__asm__ volatile("int $0x80" : "=a"(result) : "a"(162), "b"(time), "c"(0) : "memory");
			__asm__ volatile("int $0x80" : "=a"(result) : "a"(1), "b"(0));
		}
	EOF
	gcc -m32 -O1 -nostdlib -static -fno-pic -no-pie -o "$tmp/narrow" "$tmp/narrow.c" &&
		"$trailcam" run --source samples --syscalls --follow-forks -o "$tmp/narrow.json" -- sh -c '"$0"; true' "$tmp/narrow" 2>"$tmp/err" &&
		says "$tmp/err" '(narrow) is a 32-bit program' && python3 -c '
import json, re, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
tid = next(e["tid"] for e in events if e["ph"] == "M" and e["args"].get("name") == "narrow")
waits = [e["name"] for e in events if e["ph"] == "B" and e["tid"] == tid and re.match(r"\[off-cpu\], woken by a timer after ([1-9]\d\d[. ].*ms|.* s)$", e["name"])]
others = [e["name"] for e in events if e["ph"] == "B" and e["tid"] == tid and "sync" in e["name"]]
assert waits and not others, (waits, others)' "$tmp/narrow.json"
}
woken_by_child() {
	"$trailcam" run --source samples --follow-forks -o "$tmp/children.fxt" -- sh -c 'sleep 0.1; sleep 0.1; (exec sleep 0.3) & wait' 2>"$tmp/err" &&
		"$trailcam" report --json --top 1000 "$tmp/children.fxt" >"$tmp/waits.json" && python3 -c '
import json, sys
waits = [w for w in json.load(open(sys.argv[1]))["waits"] if w["name"].split()[-1] in ("wait4", "rt_sigsuspend")]
assert waits and all(w["woken_by"].startswith("sleep (tid") for w in waits), waits' "$tmp/waits.json"
}
# A wait soon after another one is told apart from it.
two_waits() {
	"$trailcam" run --source samples -o "$tmp/two.folded" -- "$programs/waits" two 2>"$tmp/err" && grep -E 'main;wait_long;.*off-cpu' "$tmp/two.folded" | awk '{ sum += $NF } END { exit sum < 250000000 }' &&
		grep -E 'main;wait_short;.*off-cpu' "$tmp/two.folded" | awk '{ sum += $NF } END { exit !sum || sum > 200000000 }'
}
# The kernel may have lowered its limit.
fewer_by_default() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'echo 500 >"$0" && mount --bind "$0" /proc/sys/kernel/perf_event_max_sample_rate && exec "$@"' "$tmp/limit" \
		"$trailcam" run --source samples -o "$tmp/t.tsv" -- true 2>"$tmp/err" && says "$tmp/err" '500 samples a second are taken, not 1000'
}
if bpf_missing; then
	skip 'calls that the program logged, by the samples source' "$bpf_reason"
	skip 'the causes of waits' "$bpf_reason"
else
	check 'few file descriptors' few_descriptors
	check 'a switch into a thread between two out of it' switches_alternate
	# The thread has got its name since it was born.
	check 'threads that have ended' ended
	check 'a wait soon after another one' two_waits
	check 'threads that wait all the time' waits_all_along
	check 'a wait that begins before' waited_before
	check 'a thread that the user stops' stopped_by_user
	check 'and one that is stopped all the time' stopped_all_along
	check 'a wait that was restarted' restarted
	if gcc -O1 -o "$tmp/ring" "$tmp/ring.c" 2>/dev/null && "$tmp/ring"; then
		check 'a thread of the kernel in the process' kernel_worker
	else
		skip 'a thread of the kernel in the process' 'no io_uring here'
	fi
	frozen=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/trailcam_frozen.$$
	if mkdir "$frozen" 2>/dev/null && [ -e "$frozen/cgroup.freeze" ]; then
		check 'a frozen cgroup' frozen "$frozen"
		wait_until rmdir "$frozen"
	else
		skip 'a frozen cgroup' 'no cgroup of version 2 can be made'
	fi
	if unshare -T true 2>/dev/null; then
		check 'clocks of time namespaces' in_time_namespace
	else
		skip 'clocks of time namespaces' 'none can be made'
	fi
	check 'a 32-bit program that a target executes' of_32_bit
	check 'a parent that waits for its children' woken_by_child
	check 'a limit below the default' fewer_by_default
	check 'a lock by its name, and who held it' lock_named
	check 'a timer, and nobody else' woken_by_timer
	check 'another program, by its name' woken_by_stranger
	check 'a processor, and who had it' in_three behind_hog
	check 'another processor, and interrupts' moved_and_interrupted
	limited=/sys/fs/cgroup/cpu/trailcam_test.$$
	[ -e /sys/fs/cgroup/cgroup.controllers ] && limited=/sys/fs/cgroup/trailcam_test.$$
	if make_limited "$limited"; then
		check "a processor, for which its cgroup has no time left" limited "$limited"
		wait_until rmdir "$limited"
	else
		skip 'a cgroup without time left' 'no cgroup that limits it can be made'
	fi
	check 'what descriptors stand for' files_named
	check 'what descriptors of system calls stand for' system_calls_named
	case $(stat -f -c %T /var/tmp) in
	tmpfs | ramfs) skip 'a disk' '/var/tmp is on none' ;;
	*) check 'a disk' waits_for disk '[off-cpu] fsync' '.*' '' '' ;;
	esac
	check '--events' counted_beside_others
	check '--events that cannot be had' not_counted
	check 'page faults, and whose' faults_of
	check 'calls that the program logged, by the samples source' true_to_source
	check 'a call begins at its hit, within all of its callers' hit_joins
	check 'a slow call begins and ends as its hit says' slow_call_is_exact 2ms
	check 'and one that no sample need have seen' slow_call_is_exact 100us
	check 'the same in a pid namespace' true_in_namespace
	check 'threads that end in a pid namespace' ends_in_namespace
	check 'a lock, and who held it, in a pid namespace' lock_in_namespace
	check 'threads whose numbers share a place' share_a_place
	check 'somebody outside of the pid namespace, by name' woken_from_outside
fi

finish
