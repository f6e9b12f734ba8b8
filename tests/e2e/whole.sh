#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Sampled stacks of optimised programs without frame pointers are unwound to where each thread began.
. tests/e2e/lib.sh
if bpf_missing; then
	skip 'whole stacks' "$bpf_reason"
	exit 0
fi
cd "$tmp" || exit 1

cat >c.c <<'EOF2'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *words[20000];
static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
int main(void)
{
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 20000; i++) {
			char text[32];
			snprintf(text, sizeof(text), "%d", rand());
			words[i] = strdup(text);
		}
		qsort(words, 20000, sizeof(*words), compare);
		for (int i = 0; i < 20000; i++)
			free(words[i]);
	}
}
EOF2
cat >cc.cc <<'EOF2'
#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static void work()
{
	for (int round = 0; round < 8; round++) {
		std::map<std::string, std::vector<int>> map;
		for (int i = 0; i < 20000; i++) {
			std::ostringstream text;
			text << i * 7919 % 5000;
			map[text.str()].push_back(i);
		}
		for (auto &pair : map)
			std::sort(pair.second.rbegin(), pair.second.rend());
		for (int i = 0; i < 1000; i++)
			try {
				throw std::runtime_error("x");
			} catch (std::exception &) {
			}
	}
}
int main()
{
	std::thread thread(work);
	work();
	thread.join();
}
EOF2
cat >rust.rs <<'EOF2'
use std::collections::{BTreeMap, HashMap};
fn work(seed: u64) -> usize {
    let (mut n, mut x) = (0, seed);
    for _ in 0..10 {
        let (mut map, mut counts) = (BTreeMap::<String, Vec<u64>>::new(), HashMap::new());
        for i in 0..30000 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1);
            let key = format!("{}", x % 5000);
            map.entry(key.clone()).or_default().push(i);
            *counts.entry(key).or_insert(0) += 1;
        }
        let mut all: Vec<_> = map.into_iter().collect();
        all.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
        n += all.len() + counts.len();
    }
    n
}
fn main() {
    let threads: Vec<_> = (0..2).map(|i| std::thread::spawn(move || work(i))).collect();
    println!("{}", threads.into_iter().map(|t| t.join().unwrap()).sum::<usize>());
}
EOF2
cat >go.go <<'EOF2'
package main

import ("fmt"; "sort"; "sync")

func work(seed int) {
	for round := 0; round < 8; round++ {
		m := map[string][]int{}
		for i := 0; i < 30000; i++ {
			k := fmt.Sprintf("%d", (i*7919+seed)%5000)
			m[k] = append(m[k], i)
		}
		keys := []string{}
		for k := range m {
			keys = append(keys, k)
		}
		sort.Strings(keys)
	}
}
func main() {
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func(seed int) { defer all.Done(); work(seed) }(i)
	}
	all.Wait()
}
EOF2
cat >python.py <<'EOF2'
import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
for _ in range(6):
    fib(20)
    text = json.dumps({str(i): [i] * 3 for i in range(20000)}, sort_keys=True)
    json.loads(text), re.findall(r'\d+', text)
EOF2

# Most of its time is in code that it makes.
cat >node.js <<'EOF2'
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
for (let round = 0; round < 8; round++) {
	fib(27)
	const text = JSON.stringify([...Array(30000).keys()].map(i => ({ a: i, b: 'x' + i })))
	JSON.parse(text), text.match(/x\d+/g), Array.from({ length: 50000 }, () => Math.random()).sort((x, y) => x - y)
}
EOF2
cat >ocaml.ml <<'EOF2'
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let () =
  for _ = 1 to 8 do
    ignore (fib 29);
    let h = Hashtbl.create 100 in
    for i = 0 to 100000 do Hashtbl.replace h (string_of_int (i * 7919 mod 5000)) [ i ] done;
    ignore (List.sort compare (Hashtbl.fold (fun k _ l -> k :: l) h []))
  done
EOF2

# whole PROGRAM...: of 100 stacks 99, and one less: others' probes may be in the middle of an instruction of ours. Go's
# runtime goes on on a stack of its own: then the goroutine's is where it was left.
whole() {
	rm -rf rec
	case $1 in
	--*) option=$1 && shift ;;
	*) option= ;;
	esac
	"$trailcam" run --source samples $option --keep-recording rec -o t.fxt -- "$@" >out 2>err && "$oracle" rec >tally && cat tally &&
		awk -v least=$least '{ exit !($1 >= 50 && ($3 + $5 + 1) * 100 >= $1 * least) }' tally || {
		cat err
		"$oracle" -v rec | sort | uniq -c | sort -rn | head
		return 1
	}
}
least=99 # per cent of the stacks
oracle=$OLDPWD/$BUILD/tests/oracle/whole_stacks
gcc -O2 -fomit-frame-pointer -o c c.c && check 'C' whole ./c
g++ -O2 -fomit-frame-pointer -pthread -o cc cc.cc && check 'C++, with threads and exceptions' whole ./cc
if rustc -O -o rust rust.rs 2>err; then check 'Rust' whole ./rust; else skip 'Rust' "$(head -1 err)"; fi
if HOME=$tmp go build -o go go.go 2>err; then check 'Go' whole ./go; else skip 'Go' "$(head -1 err)"; fi
if [ -x /usr/bin/python3 ]; then check 'CPython' whole /usr/bin/python3 python.py; else skip 'CPython' 'it is not there'; fi
names_asked_for() {
	whole node node.js && grep 'warning: process [0-9]* (node).*perf-basic-prof' err &&
		whole node --perf-basic-prof node.js && ! grep 'warning' err | grep -v 'in which a thread ran without a sample' || {
		cat err
		return 1
	}
}
if command -v node >out; then check 'node, which is to be asked for the names of its functions' names_asked_for; else skip 'node' 'it is not there'; fi
# A JVM without any options: what its code is called, and how large its frames are, is read from its memory.
cat >Work.java <<'EOF2'
import java.util.*;
public class Work {
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	public static void main(String[] args) {
		long sum = 0, end = System.currentTimeMillis() + 2500;
		while (System.currentTimeMillis() < end) {
			Map<String, Integer> map = new TreeMap<>();
			for (int i = 0; i < 5000; i++) map.put("key" + i * 7919 % 5000, i);
			sum += fib(20) + map.size() + String.join(",", map.keySet()).hashCode();
		}
		System.out.println(sum);
	}
}
EOF2
jvm() {
	whole java -cp . Work && ! grep 'without their names' err && "$trailcam" decode rec -o t.folded 2>err &&
		grep -q 'Work.main;.*java.util.TreeMap.put' t.folded && grep -q 'Work.fib;Work.fib' t.folded &&
		grep -q 'FinalizerThread.run;java.lang.ref' t.folded # which is interpreted
}
# Beside a JVM, of whose stacks all is kept, other programs are treated as ever: words that lead nowhere are left
# out of their copies. The same program with a libjvm.so of its own shows that they would be seen.
cat >beside.c <<'EOF2'
#include <time.h>
enum { WORDS = 200 };
static volatile unsigned long sink;
__attribute__((noinline)) void fill(int depth)
{
	volatile unsigned long words[WORDS];
	for (int i = 0; i < WORDS; i++)
		words[i] = 0x122233334444;
	if (depth)
		fill(depth - 1);
	for (int i = 0; i < 20000; i++)
		sink += words[i % WORDS];
}
int main(void)
{
	time_t end = time(0) + 2;
	while (time(0) < end)
		fill(3);
	return 0;
}
EOF2
# has_words: in what was kept.
has_words() {
	"$oracle" -w 0x122233334444 rec >words && ! grep -qx 0 words
}
beside() {
	gcc -O2 -fomit-frame-pointer -o beside beside.c && echo | gcc -x c -shared -o libjvm.so - && gcc -O2 -fomit-frame-pointer -o own beside.c -Wl,--no-as-needed ./libjvm.so || return 1
	whole ./own && has_words && whole ./beside && ! has_words || return 1
	whole --follow-forks sh -c './beside & java -cp . Work; wait' && ! has_words && "$trailcam" decode rec -o t.folded 2>err &&
		grep -q '^beside;.*;main;fill;fill;fill;fill ' t.folded && grep -q 'Work.main;.*java.util.TreeMap.put' t.folded
}
if command -v javac >out && javac Work.java; then
	check 'a JVM' jvm
	check 'another program beside a JVM' beside
else
	skip 'a JVM' 'there is no javac'
fi
# A call of C has its return address in a register for a moment, which OCaml's tables do not say.
least=94
if ocamlopt -o ocaml ocaml.ml 2>err; then check 'OCaml' whole ./ocaml; else skip 'OCaml' "$(head -1 err)"; fi
least=99
# Its C library has no call frame information.
if musl-gcc -O2 -fomit-frame-pointer -static -o musl c.c 2>err; then
	check 'C with musl, static' whole ./musl
	musl-gcc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -static -o bare c.c && check 'C with musl, without any unwinding tables' whole ./bare
else
	skip 'C with musl' "$(head -1 err)"
fi
cd "$OLDPWD" || exit 1
finish
