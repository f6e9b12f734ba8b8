#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# memtrace record: what programs say that they allocate, what a preloaded library counts, and what a trace
# holds.
. tests/e2e/lib.sh

libraries=/usr/lib/x86_64-linux-gnu

if bpf_missing; then
	skip 'all of memtrace record' "$bpf_reason"
	finish
fi

record() {
	"$trailcam" memtrace record -o "$tmp/t.ctf" "$@"
}

# What the functions of a program have allocated, as the programs say it themselves. A function is named as in
# a stack: " each_way@".
events_of() {
	"$trailcam" memtrace dump "$tmp/t.ctf" >"$tmp/dump" &&
		awk -v mine="$1" '
			$3 ~ /^alloc/ && $0 ~ mine { seen[$2]; sub(/len=/, "", $5); print "alloc " $5 }
			$3 == "collect" && $2 in seen { print "collect" }' "$tmp/dump"
}

# all_seen FUNCTIONS PROGRAM [ARG...]: each allocation is in the trace, with its size, and where it ends.
all_seen() {
	functions=$1
	shift
	record --interval 1 "$@" >"$tmp/said" 2>"$tmp/err"
	events_of "$functions" >"$tmp/seen" && [ -s "$tmp/said" ] && diff "$tmp/said" "$tmp/seen"
}

c_functions=' (each_way|each_resize|glibc_ways|failures|strdup|maps)@'
cc_functions=' (each_new|containers)[(][)]@'

for link in auto uprobe_multi perf_uprobe; do
	check "$link: every function of C" all_seen "$c_functions" --attach-via $link -- "$programs/allocs"
	check "$link: what fails is nothing" all_seen "$c_functions" --attach-via $link -- "$programs/allocs" failures
done
check 'what is mapped, where that is wanted' all_seen "$c_functions" --mmap -- "$programs/allocs" maps
check 'by frame pointers' all_seen "$c_functions" --call-graph fp -- "$programs/allocs"
check 'every operator of C++' all_seen "$cc_functions" -- "$programs/news"

# ---- other allocators ----

preloaded() {
	LD_PRELOAD=$1
	export LD_PRELOAD
	shift
	"$@"
	status=$?
	unset LD_PRELOAD
	return $status
}

# The C++ library itself has none, so not all of it shows.
by_frame_pointers() {
	record --interval 1 --call-graph fp -- "$programs/news" "$@" >/dev/null 2>"$tmp/err"
	[ "$(events_of "$cc_functions" | head -4 | tr '\n' ' ')" = 'alloc 2 collect alloc 3 collect ' ]
}

for allocator in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2.0; do
	library=$libraries/lib$allocator
	[ -e "$library" ] || {
		skip "lib$allocator" 'not installed'
		continue
	}
	# jemalloc has no pvalloc() of its own, and frees what glibc's gave; mimalloc aborts where operator
	# new is refused.
	case $allocator in
	jemalloc*) what=posix news= ;;
	mimalloc*) what=all news=accepted ;;
	*) what=all news= ;;
	esac
	check "$allocator: C" preloaded "$library" all_seen "$c_functions" -- "$programs/allocs" $what
	check "$allocator: failures" preloaded "$library" all_seen "$c_functions" -- "$programs/allocs" failures
	check "$allocator: C++" preloaded "$library" all_seen "$cc_functions" -- "$programs/news" $news
	check "$allocator: C++, without sessions" preloaded "$library" all_seen "$cc_functions" --attach-via uprobe_multi -- "$programs/news" $news
	check "$allocator: C++, frame pointers" preloaded "$library" by_frame_pointers $news
done

statically_linked() {
	g++ -static -O1 -g -o "$tmp/static" tests/programs/news.cc && all_seen "$cc_functions" -- "$tmp/static"
}
check 'statically linked' statically_linked

check 'behind an exec' all_seen ' (each_way|each_resize|glibc_ways)@' -- sh -c "exec $programs/allocs"

# An allocator of which the kernel emulates no instruction.
cat >"$tmp/stepped.s" <<-'END'
	.section .note.GNU-stack
	.text
	.globl malloc, free
	.type malloc, @function
	.type free, @function
	malloc: mov next(%rip), %rax
	lea 15(%rax, %rdi), %rdx
	and $-16, %rdx
	mov %rdx, next(%rip)
	ret
	.size malloc, . - malloc
	free: ret
	.size free, . - free
	.data
	next: .quad heap
	.local heap
	.comm heap, 65536, 16
END
cat >"$tmp/uses.c" <<-'END'
	#include <stdlib.h>
	int main(void) { for (int i = 1; i <= 100; i++) free(malloc(i)); return 0; }
END
gcc -fno-builtin -no-pie -o "$tmp/uses" "$tmp/uses.c" "$tmp/stepped.s"
warns() {
	record -- "$tmp/uses" 2>"$tmp/err" && says "$tmp/err" 'the program made 100 allocations of 5050 bytes;' &&
		grep -q 'warning: each call of malloc, free takes [0-9.]* us longer.*single-step.*--sampler preload' "$tmp/err"
}
check 'what is dear is said' warns
does_not_warn() {
	record "$@" 2>"$tmp/err" >/dev/null && ! grep warning "$tmp/err"
}
check 'glibc is not dear' does_not_warn -- "$programs/wordcount"
for allocator in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2.0; do
	[ ! -e "$libraries/lib$allocator" ] || check "$allocator is not dear" preloaded "$libraries/lib$allocator" does_not_warn -- "$programs/wordcount"
done

# ---- real programs ----

gcc -O2 -shared -fPIC -o "$tmp/count.so" tests/programs/src/count_allocs.c
gcc -I. -Iuser -D_GNU_SOURCE -E -o "$tmp/source.i" user/elf/elf_symbols.c

# The library's count and trailcam's are the same; the trace's estimate lies within five standard deviations,
# which are sqrt(bytes * interval).
counted() {
	rm -f "$tmp/count"
	COUNT_ALLOCS=$tmp/count LD_PRELOAD=$tmp/count.so record --interval 32k "$@" >/dev/null 2>"$tmp/err" ||
		{ cat "$tmp/err"; return 1; }
	"$trailcam" memtrace dump "$tmp/t.ctf" | grep -q ' collect' || { echo 'nothing was freed'; return 1; }
	od -An -tu8 "$tmp/count" | {
		read -r calls bytes
		says "$tmp/err" "the program made $calls allocations of $bytes bytes;" &&
			"$trailcam" memtrace dump "$tmp/t.ctf" | awk -v bytes="$bytes" -v interval=32768 '
				$3 ~ /^alloc/ { points += $4 }
				END {
					off = points * interval - bytes
					printf "%d points, %.2f variances off\n", points, off * off / bytes / interval
					exit points == 0 || off * off > 25 * bytes * interval
				}'
	}
}

compiler=/usr/lib/gcc/x86_64-linux-gnu/12/cc1
python=$(python3 -c 'import sys; print(sys.executable)')
check 'cc1' counted -- "$compiler" -quiet -O2 "$tmp/source.i" -o "$tmp/source.s"
check 'cc1, the functions of libc' counted --allocator libc.so.6 -- "$compiler" -quiet -O2 "$tmp/source.i" -o "$tmp/source.s"
PYTHONMALLOC=malloc check 'Python' counted -- "$python" -c 'import json; json.dumps([dict(a=i) for i in range(20000)])'
check 'sqlite3' counted -- sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x+1 from c where x < 20000) select count(distinct hex(x)) from c'
check 'threads' counted -- "$programs/allocs" threads
check 'perf_uprobe: threads' counted --attach-via perf_uprobe -- "$programs/allocs" threads
check 'many calls' counted -- "$programs/allocs" mix 100000

# More than can be written in time: what is lost is in the sums, and what was freed is not alive.
overrun() {
	record --interval 64 --call-graph dwarf,64k -- "$programs/allocs" mix 200000 2>"$tmp/err" || return 1
	if grep -q 'records were lost' "$tmp/err"; then
		"$trailcam" memtrace hotspots "$tmp/t.ctf" | grep -qF '[lost records]' || return 1
	else
		echo 'nothing was lost'
	fi
	bytes=$(sed -n 's/.* allocations of \([0-9]*\) bytes.*/\1/p' "$tmp/err")
	"$trailcam" memtrace dump "$tmp/t.ctf" | awk -v bytes="$bytes" -v interval=64 '
		$3 ~ /^alloc/ { points += $4; alive++ }
		$3 == "collect" { alive-- }
		END {
			off = points * interval - bytes
			printf "%d points, %.2f variances off, %d alive\n", points, off * off / bytes / interval, alive
			exit off * off > 25 * bytes * interval || alive > 1500
		}'
}
check 'more than can be written' overrun

# ---- names ----

cat >"$tmp/plugin.c" <<-'END'
	#include <stdlib.h>
	void *volatile NAME(kept);
	void NAME(work)(void) { NAME(kept) = malloc(1000); free(NAME(kept)); }
END
cat >"$tmp/plugins.c" <<-'END'
	#include <dlfcn.h>
	#include <stdio.h>
	int main(int argc, char **argv)
	{
		while (getchar() != EOF)
			;
		for (int i = 1; i + 1 < argc; i += 2) {
			void *plugin = dlopen(argv[i], RTLD_NOW);
			((void (*)(void))dlsym(plugin, argv[i + 1]))();
			dlclose(plugin);
		}
		return argc < 5;
	}
END
# Libraries that come and go at the same address keep their names, and lines.
for name in first second; do
	gcc -g -O1 -shared -fPIC -D"NAME(x)=${name}_##x" -o "$tmp/$name.so" "$tmp/plugin.c"
done
gcc -o "$tmp/plugins" "$tmp/plugins.c"
plugins() {
	record -v --interval 1 -- "$tmp/plugins" "$tmp/first.so" first_work "$tmp/second.so" second_work 2>"$tmp/err" &&
		"$trailcam" memtrace dump "$tmp/t.ctf" >"$tmp/dump" &&
		says "$tmp/dump" " first_work@$tmp/plugin.c:3:" && says "$tmp/dump" " second_work@$tmp/plugin.c:3:"
}
check 'libraries that come and go' plugins </dev/null
# The kernel tells of the mappings of all processes.
others_map() {
	: >"$tmp/err"
	{
		wait_for "$tmp/err" 'probing malloc'
		for _ in $(seq 600); do
			/bin/true
		done
	} | plugins
}
check 'libraries that come late, when others have mapped much' others_map

stripped() {
	strip -o "$tmp/stripped" "$programs/allocs" && record --interval 1 -- "$tmp/stripped" >/dev/null
	"$trailcam" memtrace dump "$tmp/t.ctf" >"$tmp/dump" && says "$tmp/dump" ' [stripped+0x'
}
check 'a program without symbols' stripped

# ---- the command ----

check "the program's exit status" status_is 3 record -- "$programs/allocs"
check 'no such program' status_is 127 record -- no-such-program
check 'wrong usage' status_is 125 record
check 'an interval that is none' status_is 125 record --interval 7 -- "$programs/allocs"
killed() {
	status_is 143 record -- sh -c 'kill $$'
}
check 'a program that is killed' killed

no_file() {
	rm -f "$tmp"/t.ctf*
	"$@" >"$tmp/out" 2>&1
	ls "$tmp"/t.ctf* >/dev/null 2>&1 || return 0
	echo 'there is a file'
	return 1
}
check 'no program, no file' no_file record -- no-such-program
check 'no allocator, no file' no_file record --allocator no-such-library -- "$programs/allocs"
check 'and which there could be' says "$tmp/out" 'neither a library that the program has nor one of jemalloc, tcmalloc, mimalloc'
nothing_to_probe() {
	no_file status_is 125 record -- "$programs/calls" && says "$tmp/out" 'have an allocation function'
}
check 'a program that allocates nothing' nothing_to_probe

"$programs/allocs" forever >/dev/null &
target=$!
check 'a process to attach to' wait_until_runs $target allocs
attached() {
	status_is 0 record -p $target --interval 1k "$@" 2>"$tmp/err" && kill -0 $target &&
		"$trailcam" memtrace dump "$tmp/t.ctf" | grep -q ' mix@'
}
check 'a process that runs' attached --duration 0.3s
interrupted() {
	: >"$tmp/err"
	"$trailcam" memtrace record -v -p $target -o "$tmp/t.ctf" 2>"$tmp/err" &
	wait_for "$tmp/err" 'attached'
	kill $!
	status_is 0 wait $! && kill -0 $target && says "$tmp/err" 'are in'
}
check 'until it is told to end' interrupted
until_it_ends() {
	: >"$tmp/err"
	"$trailcam" memtrace record -v -p $target -o "$tmp/t.ctf" 2>"$tmp/err" &
	wait_for "$tmp/err" 'attached'
	kill $target
	status_is 0 wait $!
}
check 'until it ends' until_it_ends
check 'no such process' status_is 1 record -p $target

in_namespace() {
	unshare --pid --fork --kill-child "$programs/allocs" forever >/dev/null &
	outer=$!
	wait_until grep -q . /proc/$outer/task/$outer/children
	read -r target _ </proc/$outer/task/$outer/children
	wait_until_runs "$target" allocs && attached --duration 0.3s
	status=$?
	kill -KILL $outer # unshare(1) takes no other signal
	return $status
}
check 'in another pid namespace' in_namespace

in_root() {
	root=$tmp/root
	for file in "$programs/allocs" $(ldd "$programs/allocs" | grep -o '/[^ ]*'); do
		mkdir -p "$root$(dirname "$file")" && cp "$file" "$root$file" || return 1
	done
	chroot "$root" "$programs/allocs" forever >/dev/null &
	target=$!
	wait_until_runs $target allocs && attached --duration 0.3s
	status=$?
	kill $target
	return $status
}
check 'in another root directory' in_root

finish
