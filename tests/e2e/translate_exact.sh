#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every instruction of translated programs is recorded: of languages that unwind and schedule in ways of their
# own, as step sees it; of longer programs as valgrind counts it.
. tests/e2e/lib.sh
# The one system call that a translated program is refused (rseq) changes how it starts; its environment must
# be the same, too.
GLIBC_TUNABLES=glibc.pthread.rseq=0
export GLIBC_TUNABLES

# Without Rust's own main(), which reads /proc/self/maps: that has lines more.
rust() {
	{
		echo '#![no_main]'
		sed 's/^fn main() {/#[no_mangle]\npub extern "C" fn main() { run(); std::process::exit(0) }\nfn run() {/' tests/programs/src/panics.rs
	} >"$tmp/panics.rs"
	rustc -O -g -C target-feature=+crt-static -o "$tmp/panics" "$tmp/panics.rs" && agree panics 100000 "$tmp/panics"
}
if command -v rustc >/dev/null; then
	check 'Rust: panics that are caught' rust
else
	skip 'Rust: panics that are caught' 'rustc is not installed'
fi

ocaml() {
	cp tests/programs/src/raises.ml "$tmp" && (cd "$tmp" && ocamlopt -w -a -ccopt -static -o raises raises.ml) && agree raises 100000 "$tmp/raises" -b
}
if command -v ocamlopt >/dev/null; then
	check 'OCaml: exceptions, with backtraces' ocaml
else
	skip 'OCaml: exceptions' 'ocamlopt is not installed'
fi

# Panics, interfaces, a stack that grows, and a goroutine that takes turns with the first one, which stays on its thread.
cat >"$tmp/turns.go" <<'END'
package main

import "runtime"

type shape interface{ area(int) int }
type square struct{ a int }
type oblong struct{ a, b int }

//go:noinline
func (s square) area(k int) int { return s.a*s.a + k }

//go:noinline
func (s oblong) area(k int) int { return s.a*s.b - k }

//go:noinline
func deep(n int) int {
	var pad [40]int
	pad[n%40] = n
	if n == 0 {
		return 0
	}
	return deep(n-1) + pad[n%40]
}

//go:noinline
func careful(i int) (r int) {
	defer func() {
		if recover() != nil {
			r = -i
		}
	}()
	var a [4]int
	return a[i] + deep(i*9)
}

func main() {
	runtime.LockOSThread()
	sum := 0
	shapes := []shape{square{3}, oblong{4, 5}, square{7}}
	turns := make(chan int)
	go func() {
		for i := 0; i < 8; i++ {
			turns <- deep(i)
		}
		close(turns)
	}()
	for n := range turns {
		sum += careful(n%6) + shapes[n%3].area(n)
	}
	println(sum)
}
END
# Of the first thread, what the package itself executes. Go has it begin a function again (by way of morestack) when
# its stack must grow, or its time is up: that is left out.
cat >"$tmp/turns.py" <<'END'
import re, subprocess, sys

program, stepped, recorded = sys.argv[1:]
code = {}  # address: beginning of the function
again = set()  # where it asks for more stack
for line in subprocess.check_output(["go", "tool", "objdump", "-s", "^main\\.", program], text=True).splitlines():
    words = line.split()
    if line.startswith("TEXT"):
        start = 0
    elif words:
        address = int(words[1], 16)
        start = start or address
        code[address] = start
        if "JBE" in words and address - start < 24:
            again.add(int(words[-1], 16))

def read(path):
    threads = {}
    for line in open(path):
        thread, address = line.split()[:2]
        threads.setdefault(thread, []).append(int(address, 16))
    found, begins = [], 0
    for address in next(iter(threads.values())):
        if begins and address != begins or address not in code:
            continue
        begins = 0
        if address in again:
            begins = code[address]
            while found.pop() != begins:
                pass
        else:
            found.append(address)
    return found

sides = read(stepped), read(recorded)
print([len(side) for side in sides])
sys.exit(sides[0] != sides[1] or len(sides[0]) < 2000)
END
go_turns() {
	go build -o "$tmp/turns" "$tmp/turns.go" || return 1
	export GOMAXPROCS=1 GOGC=off GODEBUG=asyncpreemptoff=1
	both turns "$tmp/turns" && python3 "$tmp/turns.py" "$tmp/turns" "$tmp/turns.stepped" "$tmp/turns.recorded"
}
if command -v go >/dev/null; then
	export HOME="${HOME:-$tmp}"
	check 'Go: panics, interfaces, goroutines' go_turns
else
	skip 'Go' 'go is not installed'
fi

# Loops, recursions and indirect calls.
cat >"$tmp/count.c" <<'END'
enum { SIZE = 200000 };
static unsigned char is_prime[SIZE];
__attribute__((noinline)) static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static unsigned triple(unsigned x) { return x * 3; }
static unsigned flip(unsigned x) { return x ^ 0x55; }
static unsigned shrink(unsigned x)
{
	while (x > 9)
		x /= 3;
	return x;
}
static unsigned (*const volatile functions[])(unsigned) = {triple, flip, shrink};
__attribute__((used)) static void run(void)
{
	unsigned sum = fib(24);
	for (unsigned i = 0; i < SIZE; i++)
		is_prime[i] = 1;
	for (unsigned i = 2; i < SIZE; i++)
		for (unsigned j = 2 * i; is_prime[i] && j < SIZE; j += i)
			is_prime[j] = 0;
	for (unsigned i = 0; i < SIZE; i++)
		sum += functions[(sum ^ i) % 3](sum) + is_prime[i];
	__asm__ volatile("syscall" : : "a"(231), "D"(sum & 63) : "rcx", "r11", "memory");
}
__asm__(".globl _start\n_start: and $-16, %rsp\n call run\n");
END
# The tool counts what it unrolls twice.
counted() {
	gcc -O1 -nostdlib -static -no-pie -fno-stack-protector -o "$tmp/count" "$tmp/count.c" || return 1
	valgrind --tool=lackey --vex-iropt-unroll-thresh=0 --vex-guest-chase=no "$tmp/count" 2>&1 | tr -d ',' |
		awk '$2 == "guest" && $3 == "instrs:" { print $4 } $2 == "taken:" { print $3 }' | sort -n >"$tmp/counted"
	timeout 500 "$trailcam" run -q --source translate --snapshot-size 64M --keep-recording "$tmp/rec" -o "$tmp/out.fxt.gz" -- "$tmp/count"
	{
		"$trailcam" dump --instructions "$tmp/rec" | wc -l
		"$trailcam" dump --branches "$tmp/rec" | awk -F '\t' '$3 == "conditional jump" { cnt++ } END { print cnt }'
	} | sort -n >"$tmp/recorded"
	paste "$tmp/counted" "$tmp/recorded"
	[ "$(tail -1 "$tmp/counted")" -gt 10000000 ] && cmp "$tmp/counted" "$tmp/recorded"
}
if command -v valgrind >/dev/null; then
	check 'as many instructions and taken jumps as valgrind counts' counted
else
	skip 'as many instructions as valgrind counts' 'valgrind is not installed'
fi
finish
