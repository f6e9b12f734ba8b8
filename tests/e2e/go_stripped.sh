#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Go programs without a symbol table: the names are in the table that Go's runtime needs. The same program with
# its symbols says what they are.
. tests/e2e/lib.sh
command -v go >/dev/null || {
	skip 'Go without symbols' 'go is not installed (package golang-go)'
	finish
}
export HOME="$tmp" GO111MODULE=off GOMAXPROCS=1 GODEBUG=asyncpreemptoff=1
cat >"$tmp/program.go" <<'EOF'
package main

import (
	"fmt"
	"strings"
)

type repeater struct{ times int }

//go:noinline
func (r *repeater) work(s string) int { return len(strings.Repeat(s, r.times)) }

//go:noinline
func worker(results chan int, r *repeater) {
	for i := 0; i < 20; i++ {
		results <- r.work("ab")
	}
	close(results)
}

func main() {
	results, sum := make(chan int), 0
	go worker(results, &repeater{7})
	for n := range results {
		sum += n
	}
	fmt.Println(sum)
}
EOF
build() {
	out=$1
	shift
	(cd "$tmp" && go build "$@" -o "$out" program.go)
}
build full && build stripped -ldflags '-s -w' && build pie -buildmode=pie && build pie_stripped -buildmode=pie -ldflags "-s -w" || {
	echo 'not ok - go build'
	exit 1
}

# functions FILE: without what the table writes in another way: the ABI's name, type arguments.
functions() {
	"$trailcam" probes "$tmp/$1" | awk -F'\t' '$2 == "function" { print $1, $3 }' | grep -v '@plt' |
		sed 's/\.abi[0-9]*$//; s/\[[^]]*\].*/[...]/' | sort
}
same_names() {
	functions "$1" >"$tmp/names.full"
	functions "$2" >"$tmp/names.stripped"
	[ "$(wc -l <"$tmp/names.stripped")" -gt 1000 ] && grep -q 'main.(\*repeater).work' "$tmp/names.stripped" || return 1
	# What the linker adds around the code is in the symbol table only.
	missing=$(comm -23 "$tmp/names.full" "$tmp/names.stripped" | grep -vc ' runtime\.e*text$\| _rt0\| main$\| local\.\|go:buildid\|go.buildid')
	[ "$(comm -13 "$tmp/names.full" "$tmp/names.stripped" | wc -l)" -eq 0 ] && [ "$missing" -eq 0 ] || {
		comm -3 "$tmp/names.full" "$tmp/names.stripped" | head
		return 1
	}
}
check 'each function has its name' same_names full stripped
check 'the same where the program can be loaded anywhere' same_names pie pie_stripped

# With C in it, the system's linker puts the table among other data, and leaves its addresses to relocations.
linked_with_c() {
	cat >"$tmp/withc.go" <<'EOF'
package main

// int twice(int n) { return 2 * n; }
import "C"
import "fmt"

func main() { fmt.Println(C.twice(21)) }
EOF
	(cd "$tmp" && CGO_ENABLED=1 go build -buildmode=pie -o c withc.go && CGO_ENABLED=1 go build -buildmode=pie -ldflags '-s -w' -o c_stripped withc.go) || return 1
	for address in $("$trailcam" probes "$tmp/c" 'main.main' | cut -f1); do
		"$trailcam" probes "$tmp/c_stripped" main.main | grep -q "^$address	function	main.main" || return 1
	done
	[ -n "$address" ]
}
check 'the same with C in it' linked_with_c

# calls FILE: the program's own functions, and how often each was called.
calls() {
	timeout 500 "$trailcam" run -q --source translate -o "$tmp/$1.fxt" -- "$tmp/$1" >"$tmp/$1.out" &&
		"$trailcam" dump --slices "$tmp/$1.fxt" | cut -f4 | grep '^main\.' | sed 's/ \[.*//' | sort | uniq -c
}
# A goroutine's functions begin anew at each switch to it, and where it goes on in another thread, as it does if
# its own is held up: how often is the same only of what has no switch in it.
same_calls() {
	calls full >"$tmp/calls.full" && calls stripped >"$tmp/calls.stripped" && says "$tmp/stripped.out" 280 || return 1
	for calls in "$tmp/calls.full" "$tmp/calls.stripped"; do
		awk '$2 == "main.(*repeater).work" { work = $1 } $2 == "main.worker" { worker = $1 } END { exit work != 20 || worker < 10 }' "$calls" || { cat "$calls"; return 1; }
		awk '{ print $2 }' "$calls" >"$calls.names"
	done
	diff "$tmp/calls.full.names" "$tmp/calls.stripped.names"
}
check 'calls, through switches of goroutines' same_calls

hit() {
	"$trailcam" run -q --source none -t 'main.(*repeater).work' --skip 4 -o "$tmp/hit.fxt" -- "$tmp/stripped" >/dev/null &&
		"$trailcam" dump --hits "$tmp/hit.fxt" >"$tmp/hits" && says "$tmp/hits" '#0' && grep -q '#1 .* main.worker' "$tmp/hits"
}
if bpf_missing; then
	skip 'a hit' "$bpf_reason"
else
	check 'a hit, and its callers' hit
fi
finish
