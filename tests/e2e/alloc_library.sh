#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# libtrailcam-alloc.so in programs that know nothing of it: they do what they did, and its probes tell of
# their allocations.
. tests/e2e/lib.sh

library=$PWD/$BUILD/libtrailcam-alloc.so

# same LIBRARIES COMMAND...: its output and exit status, with every allocation sampled
same() {
	libraries=$1
	shift
	"$@" >"$tmp/without" 2>&1 </dev/null
	status=$?
	TRAILCAM_ALLOC_INTERVAL=1 LD_PRELOAD="$libraries" "$@" >"$tmp/with" 2>&1 </dev/null
	[ $? -eq $status ] && cmp "$tmp/without" "$tmp/with"
}

check_programs() {
	check "a C program$1" same "$2" "$programs/wordcount"
	check "threads and forks$1" same "$2" "$programs/exits"
	check "C++ and exceptions$1" same "$2" "$programs/throws"
	check "a shell, and what it executes$1" same "$2" sh -c 'ls / | sort -r | head -2; echo "$(echo 1)"; exit 3'
	if command -v python3 >/dev/null; then
		check "Python$1" same "$2" python3 -c 'import json, re, threading; print(len(json.dumps(list(range(10000)))))'
	fi
}

check_programs '' "$library"
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	if ldconfig -p 2>/dev/null | grep -q "$allocator"; then
		check_programs " with $allocator" "$library $allocator"
	else
		skip "programs with $allocator" 'it is not installed'
	fi
done

# --- the probes

lists_probes() {
	"$trailcam" probes "$library" >"$tmp/probes" && says "$tmp/probes" 'usdt:otel_memory:alloc	8@%rdi 8@%rsi 8@%rdx' &&
		says "$tmp/probes" 'usdt:otel_memory:free	8@%rdi' && ! readelf -d "$library" | grep NEEDED | grep -v 'libc\.so\.6'
}
check 'the library has the probes, and needs nothing but libc' lists_probes

# hits PROBE CONDITION INTERVAL: of wordcount's table, which has 32 bytes an entry
hits() {
	"$trailcam" run --source none -t "$library:usdt:otel_memory:$1" --when "$2" --max-hits 100 --keep-recording "$tmp/hits-$1" -o "$tmp/$1.csv" -- \
		env LD_PRELOAD="$library" TRAILCAM_ALLOC_INTERVAL="$3" "$programs/wordcount" >"$tmp/out" 2>"$tmp/err" || return 1
	"$trailcam" dump --hits "$tmp/hits-$1" >"$tmp/hits"
}

# The table grows from 32 entries of 28 bytes to 64; the old ones are freed then.
tells_of_allocations() {
	hits alloc 'arg1 == 1792' 1 && [ "$(grep -c '^hit ' "$tmp/hits")" -eq 1 ] && says "$tmp/hits" 'rdx 0x700' &&
		says "$tmp/hits" 'table_grow'
}
tells_of_frees() {
	hits free 'arg0 != 0' 1 && [ "$(grep -c '^hit ' "$tmp/hits")" -ge 2 ] && says "$tmp/hits" 'table_grow'
}
samples() {
	hits alloc 'arg1 < 1000' 1g && says "$tmp/err" 'no hit'
}

# --- as the sampler of a recording

record() {
	"$trailcam" memtrace record -o "$tmp/t.ctf" "$@" >"$tmp/out" 2>"$tmp/err"
}

# All that a program allocates is what probes on the functions see.
agrees() {
	record --sampler uprobes --interval 1 -- "$programs/allocs"
	totals=$(sed -n 's/^trailcam: the program made \([0-9]*\) allocations of \([0-9]* bytes\).*/\1 samples stand for \2/p' "$tmp/err")
	record --sampler preload --interval 1 -- "$programs/allocs"
	[ -n "$totals" ] && says "$tmp/err" "$totals"
}

children_live() {
	record --sampler preload --interval 1 -- "$programs/forks" && says "$tmp/out" '0 of 200 children died'
}
check 'children of a program that is sampled live' children_live

# Where make install puts it.
is_found() {
	mkdir -p "$tmp/prefix/bin" "$tmp/prefix/lib/trailcam" && cp "$trailcam" "$tmp/prefix/bin" && cp "$library" "$tmp/prefix/lib/trailcam" &&
		"$tmp/prefix/bin/trailcam" memtrace record --sampler preload --interval 1 -o "$tmp/t.ctf" -- "$programs/wordcount" >"$tmp/out" 2>"$tmp/err" &&
		says "$tmp/out" 'different words' && says "$tmp/err" ' samples stand for '
}

is_missed() {
	rm "$tmp/prefix/lib/trailcam/libtrailcam-alloc.so" && status_is 125 "$tmp/prefix/bin/trailcam" memtrace record --sampler preload -o "$tmp/no.ctf" -- \
		"$programs/wordcount" 2>"$tmp/err" && says "$tmp/err" 'libtrailcam-alloc.so is neither in' && [ ! -e "$tmp/no.ctf" ]
}

static_is_refused() {
	echo 'int main(void) { return 0; }' | gcc -static -xc -o "$tmp/static" - && status_is 125 record --sampler preload -- "$tmp/static" &&
		says "$tmp/err" 'is linked statically, so it loads no library'
}

pid_is_refused() {
	status_is 125 record --sampler preload -p $$ && says "$tmp/err" 'cannot preload a library into a running one'
}

if bpf_missing; then
	skip 'the probes' "$bpf_reason"
else
	check 'what it samples is what probes on the functions see' agrees
	if [ "$(id -u)" = 0 ]; then
		check 'it is found where it is installed' is_found
		check 'where it is missing, that is said' is_missed
	else
		skip 'it is found where it is installed' 'a copy of trailcam has no file capabilities'
	fi
	check 'a program that is linked statically is refused' static_is_refused
	check 'so is a process that runs' pid_is_refused
	check 'an allocation is told with its size and weight, and its caller' tells_of_allocations
	check 'so is its end' tells_of_frees
	check 'nothing is, where samples are far apart' samples
fi
finish
