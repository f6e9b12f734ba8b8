#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The call trees of real programs, in many languages, against what the stack pointer of each instruction says
# (tests/oracle/calls.c).
. tests/e2e/lib.sh
sources=$PWD/tests/programs/src
oracle=$PWD/$BUILD/tests/oracle/calls

# record OPTION... -- PROGRAM ARG...
record() {
	rm -rf "$tmp/rec"
	"$trailcam" run --source step --snapshot-size 256M --keep-recording "$tmp/rec" -o "$tmp/t.fxt" "$@" >"$tmp/out" 2>"$tmp/err"
	[ -e "$tmp/rec/data" ] || {
		cat "$tmp/err"
		return 1
	}
}

# The whole run of PROGRAM, at least MINIMUM calls.
true_calls() {
	minimum=$1
	shift
	record --step-log "$tmp/log" -- "$@" && "$oracle" "$tmp/rec" "$tmp/log" >"$tmp/verdict" || {
		cat "$tmp/verdict"
		return 1
	}
	[ "$(awk '/^thread/ { sub(/.*: /, ""); cnt += $1 } END { print cnt }' "$tmp/verdict")" -ge "$minimum" ]
}

# tree OPTION...: the names of all calls, indented.
tree() {
	"$trailcam" decode -o "$tmp/tree.tsv" "$@" "$tmp/rec" 2>/dev/null &&
		awk -F'\t' '!/^#/ && $3 >= 0 { sub(/ \[inferred start time\]/, ""); printf "%*s%s\n", 2 * $3, "", $4 }' "$tmp/tree.tsv"
}

# needs NAME COMMAND PACKAGE: or the reason why the test is skipped.
needs() {
	command -v "$2" >/dev/null && return 0
	skip "$1" "$2 is not installed (package $3)"
	return 1
}

check 'C: wordcount' true_calls 1000 "$programs/wordcount"

# What follows is linked statically where that can be: loading libraries would take half of the time.

# cxx OPTION...
cxx() {
	g++ "$@" -no-pie -static-libstdc++ -static-libgcc -o "$tmp/unwinds" tests/programs/unwinds.cc && true_calls 3000 "$tmp/unwinds"
}
check 'C++: exceptions and longjmp in recursions, out of signal handlers' cxx -g -O1
check 'C++: optimised and stripped' cxx -O2 -s

rust() {
	rustc -O -g -C target-feature=+crt-static -o "$tmp/panics" "$sources/panics.rs" && true_calls 2000 "$tmp/panics"
}
if needs 'Rust' rustc rustc; then check 'Rust: panics that are caught' rust; fi

ocaml() {
	cp "$sources/raises.ml" "$tmp" && (cd "$tmp" && ocamlopt -w -a -ccopt -static -o raises raises.ml) && true_calls 2000 "$tmp/raises" "$@"
}
if needs 'OCaml' ocamlopt ocaml-nox; then
	check 'OCaml: raise, raise_notrace' ocaml
	check 'OCaml: with backtraces' ocaml -b
fi

# The same recording decoded on one thread, on eight, and without cutting it at PSBs (by the oracle).
cut_anywhere() {
	record --step-log "$tmp/log" -- "$programs/throws-static" && "$trailcam" decode --threads 1 -o "$tmp/1.tsv" "$tmp/rec" 2>"$tmp/err" &&
		"$trailcam" decode --threads 8 -o "$tmp/8.tsv" "$tmp/rec" 2>"$tmp/err" && cmp "$tmp/1.tsv" "$tmp/8.tsv" &&
		"$oracle" --whole "$tmp/rec" "$tmp/log" >"$tmp/verdict" && says "$tmp/verdict" 'as a whole'
}
check 'C++: exceptions; pieces at each PSB, on 1 and 8 threads: one timeline' cut_anywhere

# Packets are lost again and again: one call of main, and nothing beside it, from the beginning to the end.
overflows() {
	record --step-from main --step-overflow 3000 -- "$programs/wordcount" &&
		"$trailcam" decode --threads 1 -o "$tmp/1.tsv" "$tmp/rec" 2>"$tmp/err" &&
		"$trailcam" decode --threads 8 -o "$tmp/8.tsv" "$tmp/rec" 2>"$tmp/err" && cmp "$tmp/1.tsv" "$tmp/8.tsv" || return 1
	awk -F'\t' '
		/gap: overflow/ { gaps++ }
		$3 == 0 { starts[++cnt] = $1 }
		$4 ~ /^main( |$)/ { mains++; end = $2 }
		END {
			for (i = 1; i <= cnt; i++)
				roots += starts[i] < end
			print gaps " gaps, " roots " outermost calls while main runs, " mains " of main"
			exit gaps < 5 || roots != 1 || mains != 1
		}' "$tmp/1.tsv"
}
check 'calls go on through overflows' overflows

# What they are in is known from the source: whose turn it is, and what each of them has open then. The first
# turns, and the last.
coroutines() {
	record --step-from main -- "$programs/coroutines" || return 1
	tree | grep -E '^ *(main|resume|producer|produce|consumer|yield|puts|swapcontext)$' >"$tmp/tree" || return 1
	cat >"$tmp/expected" <<'END'
main
  resume
    swapcontext
producer
  produce
    yield
      swapcontext
main
  resume
  resume
    swapcontext
consumer
  yield
    swapcontext
main
  resume
  resume
    swapcontext
producer
  produce
    yield
  produce
    yield
      swapcontext
END
	head -24 "$tmp/tree" | diff "$tmp/expected" - && [ "$(grep -c '^main$' "$tmp/tree")" -eq 8 ]
}
check 'coroutines: each has its own stack' coroutines

inlines() {
	record --step-from main -- "$programs/inlines" || return 1
	tree --inlines | grep -E '^ *(party|greet|shout|puts)$' | sed 's/^  *party/party/; s/^    //' >"$tmp/tree"
	cat >"$tmp/expected" <<'END'
party
  greet
    shout
      puts
    shout
      puts
  puts
  greet
    shout
      puts
END
	diff "$tmp/expected" "$tmp/tree"
}
check 'inlined calls' inlines

# same_callers MINIMUM: of each call.
same_callers() {
	"$oracle" --callers "$tmp/rec" "$tmp/log" >"$tmp/verdict" || {
		cat "$tmp/verdict"
		return 1
	}
	[ "$(awk '/^thread/ { sub(/.*: /, ""); cnt += $1 } END { print cnt }' "$tmp/verdict")" -ge "$1" ]
}

go_program() {
	cp "$sources/goroutines.go" "$tmp" && (cd "$tmp" && GOCACHE=$tmp/cache GOFLAGS=-mod=mod go build -o goroutines goroutines.go)
}

# Preemption by signals is left out, since they have a stack of their own, which the oracle does not know.
goroutines() {
	go_program && GODEBUG=asyncpreemptoff=1 GOMAXPROCS=1 record --step-from main.main --step-log "$tmp/log" -- "$tmp/goroutines" &&
		same_callers 2000 && "$trailcam" dump --slices "$tmp/rec" >"$tmp/slices" && grep -q runtime.gopanic "$tmp/slices" &&
		grep -q runtime.newstack "$tmp/slices" && ! grep -F '[gap' "$tmp/slices"
}

# The stack at the hit, by Go's frame pointers, and by the trace: the goroutine was switched away from in
# between, and panicked. Without preemption, whose signal may come between the two.
goroutine_hit() {
	GODEBUG=asyncpreemptoff=1 GOMAXPROCS=1 record --step-from main.main -t main.square --skip 3 -- "$tmp/goroutines" || return 1
	"$trailcam" dump --hits "$tmp/rec" | sed -n 's/^  #[0-9]* 0x[0-9a-f]* \(.*\)+0x[0-9a-f]*$/\1/p' >"$tmp/hit"
	"$trailcam" dump --slices "$tmp/rec" >"$tmp/slices"
	tid=$("$trailcam" dump --hits "$tmp/rec" | sed -n 's/^  tid //p')
	sed 's/ \[inferred start time\]//' "$tmp/slices" | awk -F'\t' -v tid="$tid" '
		$6 != tid || $3 < 0 { next }
		{ open[$3] = $4; end[$3] = $2; for (d = $3 + 1; d in open; d++) delete open[d] }
		END { for (d = 0; d in open; d++) depth = d; for (d = depth; d >= 0; d--) print open[d] }' >"$tmp/trace"
	# The program says its number, too.
	number=$("$trailcam" dump --hits "$tmp/rec" | sed -n 's/^  \(goroutine [0-9]*\)$/\1/p')
	[ -n "$number" ] && grep -qx "$number" "$tmp/out" && grep -qa goroutine "$tmp/t.fxt" || {
		echo "'$number'"
		cat "$tmp/out"
		return 1
	}
	[ "$(wc -l <"$tmp/hit")" -ge 5 ] && diff "$tmp/hit" "$tmp/trace" && ! grep -F '[gap' "$tmp/slices"
}
if needs 'Go' go golang-go; then
	check 'Go: each goroutine has its own stack' goroutines
	if bpf_missing; then
		skip 'Go: at a hit' "$bpf_reason"
	else
		check 'Go: the stack at a hit' goroutine_hit
	fi
fi

# Names of JIT code, from a running program that has been given its machine code.
node() {
	# It leaves a log where it runs.
	(cd "$tmp" && exec node --perf-basic-prof --no-turbo-inlining --max-inlined-bytecode-size=0 --single-threaded "$sources/squares.js" 60 >"$tmp/out") &
	pid=$!
	wait_for "$tmp/out" warm || return 1
	rm -rf "$tmp/rec" "$tmp/log"
	until_long "$tmp/log" "$trailcam" attach --source step --max-stall none -p "$pid" --step-log "$tmp/log" --keep-recording "$tmp/rec" -o "$tmp/t.fxt" 2>"$tmp/err"
	kill "$pid"
	rm -f "/tmp/perf-$pid.map"
	"$trailcam" decode "$tmp/rec" -o "$tmp/node.tsv" 2>>"$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
	# Every square is called by sumSquares or another square.
	awk -F'\t' '
		/^#/ || $3 < 0 { next }
		{ open[$3] = $4 }
		$4 ~ /^(JS|LazyCompile):.*square / { calls++; if ($3 > 0 && open[$3 - 1] !~ /^(JS|LazyCompile):.*(square|sumSquares) /) { print $0 " in " open[$3 - 1]; wrong++ } }
		END { print calls " calls"; exit calls < 100 || wrong }' "$tmp/node.tsv" && same_callers 100
}
if needs 'Node' node nodejs; then check 'Node: names of JIT code' node; fi
finish
