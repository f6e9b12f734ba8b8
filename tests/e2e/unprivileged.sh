#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a user without any right gets: samples of user code, and when threads do not run.
. tests/e2e/lib.sh
chmod 755 "$tmp" && mkdir -m 777 "$tmp/own" && cp "$trailcam" "$programs/logged" "$programs/waits" "$programs/busy" "$programs/exits" "$tmp/own/"
own=$tmp/own
ours=
trap 'kill_ours $ours; wait 2>/dev/null; rm -rf "$tmp"' EXIT

# Little memory may be locked, as it is for users.
nobody='setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --ambient-caps=-all --bounding-set=-all prlimit --memlock=65536'
as_nobody() {
	$nobody "$@"
}
recorded() {
	as_nobody "$own/trailcam" "$@" 2>"$tmp/err"
}

if ! as_nobody "$own/trailcam" doctor | grep -q '^works  samples '; then
	skip 'samples without a right' 'the kernel does not let users sample (kernel.perf_event_paranoid)'
	finish
fi

# On a machine that is too busy ticks come too late to show edges: then once more.
in_three() {
	"$@" || "$@" || "$@"
}
true_slices() {
	recorded run --source samples --frequency 2000 -o "$own/truth.json" --keep-recording "$own/truth" -- "$own/logged" >"$tmp/log" &&
		says "$tmp/err" 'needs CAP_BPF and CAP_PERFMON' && python3 tests/e2e/samples_truth.py "$tmp/log" "$own/truth.json"
}
check 'calls that the program logged' in_three true_slices

check 'a kept recording says the same' same_again "$own/truth" "$own/truth.json"

pauses() {
	recorded run --source samples -o "$own/waits.fxt" -- "$own/waits" lock && "$trailcam" report --json --top 1000 "$own/waits.fxt" >"$tmp/waits.json" && python3 -c '
import json, sys
waits = json.load(open(sys.argv[1]))["waits"]
assert any(w["name"] == "[off-cpu]" for w in waits), waits
assert not any(w["woken_by"] for w in waits), waits' "$tmp/waits.json"
}
check 'when threads wait, though not why' pauses

# Of a thread that has not run since, and of one that waits at the end, /proc says for what.
waits_all_along() {
	as_nobody python3 -S -c '
import os, sys, threading, time
lock, pipe = threading.Lock(), os.pipe()
lock.acquire()
threading.Thread(target=lock.acquire, daemon=True).start()
threading.Thread(target=os.read, args=(pipe[0], 1), daemon=True).start()
print(os.getpid(), flush=True)
time.sleep(60)' >"$tmp/hung" &
	wait_until test -s "$tmp/hung"
	hung=$(cat "$tmp/hung") ours="$ours $hung"
	wait_until asleep "$hung"
	recorded attach -p "$hung" --duration 300ms -o "$own/hung.json" --keep-recording "$own/hung" && same_again "$own/hung" "$own/hung.json"
	status=$?
	kill "$hung"
	[ $status = 0 ] && python3 -c '
import json, sys
events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] in "BX"]
waits = {e["args"]["counted_as"]: e for e in events if e.get("args", {}).get("kind") == "off-cpu"}
assert set(waits) == {"[off-cpu] futex_wait", "[off-cpu] clock_nanosleep", "[off-cpu] read"}, waits
assert ", pipe " in waits["[off-cpu] read"]["args"]["about"], waits
for wait in waits.values():
    names = [e["name"] for e in events if e["tid"] == wait["tid"]]
    assert names[0] in ("_start", "clone3", "start_thread") and len(names) > 5, names' "$own/hung.json"
}
check 'threads that wait all the time, and for what' waits_all_along

signalled() {
	status_is 139 recorded run --on-signal SIGSEGV -o "$own/segv.tsv" -- "$own/exits" segv >/dev/null && says "$tmp/err" 'hit SIGSEGV'
}
check '--on-signal ends it' signalled

# Without the function, so that the number is that of the program.
$nobody "$own/busy" "$own/worked" 4 &
target=$!
ours="$ours $target"
wait_until test -s "$own/worked"
# rounds: of the thread that has gone through the fewest
rounds() {
	od -An -v -t u8 -w8 -N 32 "$own/worked" | sort -n | head -n 1 | tr -d ' '
}
have_gone_on() {
	[ "$(rounds)" -gt "$1" ]
}
# A thread runs for some 10 us, then sleeps 30 times as long. So a recording has its stack only if it takes as many
# rounds as some 20 ticks need.
all_threads() {
	recorded attach -p "$target" --duration 500ms -o "$own/busy.csv" && says "$tmp/err" 'the time is up' && says "$tmp/err" 'in 5 threads' || return 1
	$nobody "$own/trailcam" attach -v -p "$target" -o "$own/busy.csv" 2>"$tmp/err" &
	recording=$!
	wait_for "$tmp/err" 'debug: attached' && wait_until have_gone_on $(($(rounds) + 40000))
	kill -TERM $recording # a script's background ignores SIGINT
	status_is 0 wait $recording && says "$tmp/err" 'in 5 threads' && says "$own/busy.csv" ',turn,' &&
		untraced "$target"
}
check 'attach to all threads of a process of its own; the time or a signal ends it' all_threads

# It touches 20,000 pages, and a few when it begins. The counters are its threads' own.
counted() {
	recorded run --events page-faults -o "$own/faults.json" --keep-recording "$own/faults" -- "$own/waits" fault &&
		same_again "$own/faults" "$own/faults.json" && python3 -c '
import json, sys
counts = [int(next(iter(e["args"].values()))) for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "C" and "page-faults" in e["name"]]
assert 19900 < counts[-1] < 20500 and counts == sorted(counts), counts[-1:]' "$own/faults.json"
}
check '--events: what is counted' counted

refused() {
	status_is 125 recorded run --syscalls -o "$own/t.tsv" -- "$own/exits" none && says "$tmp/err" '--syscalls and --interrupts need CAP_BPF and CAP_PERFMON' &&
		status_is 125 recorded run --events context-switches -o "$own/t.tsv" -- "$own/exits" none && says "$tmp/err" 'context-switches happen in the kernel' &&
		status_is 125 recorded run -t marker -o "$own/t.tsv" -- "$own/exits" mark && says "$tmp/err" 'CAP_BPF'
}
check 'what needs a right says so' refused

# A program that may be executed, but not read; one that hides its memory itself.
hidden() {
	for source in samples translate; do
		status_is 3 recorded run --source $source --follow-forks -o "$own/hidden-$source.fxt" -- \
			sh -c "$own/unreadable && $own/hides && exit 3" || return 1
		says "$tmp/err" 'executes a program that this user may not read' || return 1
	done
}
cp /bin/true "$own/unreadable" && chmod 711 "$own/unreadable"
echo 'int prctl(int, long); int main(void) { return prctl(4 /* PR_SET_DUMPABLE */, 0); }' | gcc -x c -o "$own/hides" - || exit 1
check 'programs that this user may not look into' hidden

finish
