#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Programs of several languages, without frame pointers, that know their own calls: sampled slices are these
# (tests/e2e/samples_truth.py). They do what tests/programs/logged.c does.
. tests/e2e/lib.sh
if bpf_missing; then
	skip 'programs that know their calls' "$bpf_reason"
	exit 0
fi

cat >"$tmp/logged.go" <<'EOF2'
package main

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

type call struct {
	name       string
	begin, end int64
	depth      int
}

var calls []call
var depth int
var sink, seed uint64 = 0, 42

func now() int64 {
	var time syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&time)), 0)
	return time.Nano()
}

func draw(below uint64) uint64 {
	seed = seed*6364136223846793005 + 1442695040888963407
	return (seed >> 33) % below
}

//go:noinline
func work(amount uint64) {
	for i := uint64(0); i < amount*100000; i++ {
		sink += i * 3
	}
}

func begin(name string) int {
	calls = append(calls, call{name, now(), 0, depth})
	depth++
	return len(calls) - 1
}

func end(nth int) {
	calls[nth].end = now()
	depth--
}

FUNCTIONS

//go:noinline
func anyOf() {
	if depth > 8 || len(calls) > 512 {
		return
	}
	switch draw(5) {
	case 0:
		alpha()
	case 1:
		beta()
	case 2:
		gamma_()
	case 3:
		delta()
	default:
		epsilon()
	}
}

func main() {
	runtime.LockOSThread()
	for i := 0; i < 60; i++ {
		anyOf()
	}
	for _, one := range calls {
		fmt.Println(one.name, one.begin, one.end, one.depth)
	}
}
EOF2
for name in alpha beta gamma_ delta epsilon; do
	cat <<EOF2
//go:noinline
func $name() {
	nth := begin("$name")
	work(draw(40))
	for i := draw(4); i > 0; i-- {
		anyOf()
	}
	work(draw(10))
	end(nth)
}
EOF2
done >"$tmp/functions"
sed -i -e "/^FUNCTIONS/r $tmp/functions" -e '/^FUNCTIONS/d' "$tmp/logged.go"

cat >"$tmp/logged.rs" <<'EOF2'
use std::sync::Mutex;
struct Log { calls: Vec<(&'static str, i64, i64, usize)>, depth: usize, seed: u64 }
static LOG: Mutex<Log> = Mutex::new(Log { calls: Vec::new(), depth: 0, seed: 42 });
#[repr(C)]
struct Time { s: i64, ns: i64 }
extern "C" { fn clock_gettime(clock: i32, time: *mut Time) -> i32; }
fn now() -> i64 {
    let mut time = Time { s: 0, ns: 0 };
    unsafe { clock_gettime(1, &mut time) };
    time.s * 1000000000 + time.ns
}
fn draw(below: u64) -> u64 {
    let mut log = LOG.lock().unwrap();
    log.seed = log.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (log.seed >> 33) % below
}
#[inline(never)]
fn work(amount: u64) {
    let mut sum = 0u64;
    for i in 0..amount * 100000 { sum = unsafe { std::ptr::read_volatile(&(sum + i * 3)) }; }
}
fn begin(name: &'static str) -> usize {
    let mut log = LOG.lock().unwrap();
    let depth = log.depth;
    log.depth += 1;
    log.calls.push((name, now(), 0, depth));
    log.calls.len() - 1
}
fn end(nth: usize) {
    let mut log = LOG.lock().unwrap();
    log.calls[nth].2 = now();
    log.depth -= 1;
}
macro_rules! function {
    ($name:ident) => {
        #[inline(never)]
        fn $name() {
            let nth = begin(stringify!($name));
            work(draw(40));
            for _ in 0..draw(4) { any() }
            work(draw(10));
            end(nth);
        }
    };
}
function!(alpha);
function!(beta);
function!(gamma_);
function!(delta);
function!(epsilon);
#[inline(never)]
fn any() {
    {
        let log = LOG.lock().unwrap();
        if log.depth > 8 || log.calls.len() > 512 { return }
    }
    match draw(5) { 0 => alpha(), 1 => beta(), 2 => gamma_(), 3 => delta(), _ => epsilon() }
}
fn main() {
    for _ in 0..60 { any() }
    for one in &LOG.lock().unwrap().calls { println!("{} {} {} {}", one.0, one.1, one.2, one.3); }
}
EOF2

true_calls() {
	"$trailcam" run --source samples --frequency 2000 -o "$tmp/truth.json" -- "$tmp/logged" >"$tmp/log" 2>"$tmp/err" &&
		python3 tests/e2e/samples_truth.py "$tmp/log" "$tmp/truth.json"
}
gcc -O2 -fomit-frame-pointer -o "$tmp/logged" tests/programs/logged.c || exit 1
check 'calls of a program in C' true_calls
g++ -x c++ -O2 -fomit-frame-pointer -o "$tmp/logged" tests/programs/logged.c || exit 1
check 'calls of a program in C++' true_calls
if rustc -O -o "$tmp/logged" "$tmp/logged.rs" 2>"$tmp/err"; then check 'calls of a program in Rust' true_calls; else skip 'Rust' "$(head -1 "$tmp/err")"; fi
if HOME=$tmp go build -o "$tmp/logged" "$tmp/logged.go" 2>"$tmp/err"; then check 'calls of a program in Go' true_calls; else skip 'Go' "$(head -1 "$tmp/err")"; fi
finish
