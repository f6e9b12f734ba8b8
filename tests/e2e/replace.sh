#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Nothing of the user's is replaced or removed but what was named to be written, and older results of ours.
. tests/e2e/lib.sh
calls=$programs/calls
cd "$tmp" || exit 1

record() {
	"$trailcam" run --source step "$@" -- "$calls" 2>err
}

# refuses TEXT COMMAND...: it fails with that text, and nothing ran: no file changed its content or name.
refuses() {
	text=$1
	shift
	find . -type f ! -name err ! -name '*.out' -exec md5sum {} + | sort >before.out 2>/dev/null
	"$@" && { echo 'it was done'; return 1; }
	find . -type f ! -name err ! -name '*.out' -exec md5sum {} + | sort >after.out
	says err "$text" && cmp before.out after.out
}

# --- kept recordings
check 'a recording' record --keep-recording rec -o t.tsv
check 'an older one is replaced' record --keep-recording rec -o t.tsv
mkdir empty && check 'an empty directory' record --keep-recording empty -o t.tsv
user_files() {
	mkdir "$1" && echo mine >"$1/data" && echo mine >"$1/code.c"
	refuses 'is not a recording' record --keep-recording "$1" -o t.tsv
}
check "a directory with a user's data and code.c" user_files project
beside() {
	cp -r rec beside && echo mine >beside/"$1" && refuses 'is not a recording' record --keep-recording beside -o t.tsv && rm -r beside
}
check "a user's file beside a recording" beside notes
check 'a name that only looks like ours' beside code.py
check 'one that nearly is' beside code.1.2.3.bak
in_place() {
	cp -r rec "$1" && rm "$1/data" && "$2" "$1" && refuses 'is not a recording' record --keep-recording "$1" -o t.tsv
}
other_data() { printf 'PERFILE2%0200d' 0 >"$1/data"; }
linked_data() { ln -s ../rec/data "$1/data"; }
fifo_data() { mkfifo "$1/data"; }
check "another program's perf.data" in_place others other_data
check 'a link to data' in_place linked linked_data
check 'a pipe called data' in_place piped fifo_data
no_data() { :; }
check 'no data at all, but a file of ours' in_place nodata no_data
kernel_dir() { cp rec/data "$1/data" && mkdir "$1/kcore_dir" && echo mine >"$1/kcore_dir/thesis"; }
check "a user's file in kcore_dir" in_place kernel kernel_dir
ln -s rec link
check 'a link to a recording' refuses 'is not a recording' record --keep-recording link -o t.tsv
check 'a link with a slash behind it' refuses 'is not a recording' record --keep-recording link/ -o t.tsv
mounted() {
	mkdir mounted && mount -t tmpfs tmpfs mounted 2>/dev/null || { rmdir mounted; return 0; }
	refuses 'mount point' record --keep-recording mounted -o t.tsv
	result=$?
	umount mounted
	return $result
}
check 'a mount point' mounted

# --- traces and logs
echo mine >mine
check 'the program itself' refuses 'is the file that is run' record -o "$calls" --format fxt
check 'the program, as a log' refuses 'is the file that is run' record --step-log "$calls" -o t.tsv
decode() {
	"$trailcam" decode rec "$@" 2>err
}
check 'the recording that is read' refuses 'is the file that is read' decode -o rec/data --format slices
check 'a directory' refuses 'is a directory' record -o empty --format slices
check 'a directory as a log' refuses 'is a directory' record --step-log empty -o t.tsv
# One that has no driver: a test that fails writes nowhere.
if mknod block b 240 0 2>/dev/null; then
	check 'a block device' refuses 'block device' decode -o block --format slices
else
	skip 'a block device' 'none can be made here'
fi
check 'a character device' decode -o /dev/null --format slices
is_device() { [ -c /dev/null ]; }
check 'it is one still' is_device
ln -s mine out.tsv
through_link() {
	decode -o out.tsv && [ -L out.tsv ] && ! grep -q mine mine && [ -s mine ]
}
check 'a link: what it points to is written' through_link
ln -s nowhere dangling.tsv
check 'a link to nothing' refuses 'symbolic link to a file that does not exist' decode -o dangling.tsv
standard_output() {
	sh -c "echo before; '$trailcam' decode rec -o /dev/stdout --format slices 2>/dev/null; echo after" >stdout.out &&
		[ -L /dev/stdout ] && [ "$(sed -n 1p stdout.out)" = before ] && [ "$(tail -1 stdout.out)" = after ] &&
		[ "$(wc -l <stdout.out)" -gt 3 ]
}
check '/dev/stdout is a file: it goes behind what is there' standard_output

# --- names that the user did not give
echo mine >trace.fxt.gz
check 'the default name is taken by something else' refuses 'trace.fxt.gz exists already' record
rm trace.fxt.gz
default_twice() {
	record && record && rm trace.fxt.gz
}
check 'or by an older trace' default_twice
if bpf_missing; then
	skip 'the default name of memtrace' "$bpf_reason"
else
	allocs() { "$trailcam" memtrace record -- "$programs/wordcount" >wordcount.out 2>err; }
	allocs_twice() { allocs && allocs; }
	echo mine >wordcount.ctf
	check 'memtrace: taken by something else' refuses 'wordcount.ctf exists already' allocs
	rm wordcount.ctf
	check 'memtrace: or by an older trace' allocs_twice
	graph() { "$trailcam" memtrace flamegraph wordcount.ctf 2>err; }
	graph_twice() { graph && graph; }
	echo mine >flamegraph.html
	check 'flame graph: taken by something else' refuses 'flamegraph.html exists already' graph
	rm flamegraph.html
	check 'flame graph: or by an older one' graph_twice
fi
cd - >/dev/null || exit 1
finish
