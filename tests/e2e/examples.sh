#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What --help, the manual and README.md show first works on a machine where every program is stripped: each
# line is run as it stands, in one scratch directory. Of what a reader has to put in (a process, its
# function), a program of the tests has it.
. tests/e2e/lib.sh
if bpf_missing; then
	skip 'the examples' "$bpf_reason"
	exit 0
fi
root=$PWD
PATH=$root/$BUILD:$PATH
server=$programs/server

mkfifo "$tmp/to"
"$server" <"$tmp/to" >"$tmp/server.out" &
target=$!
exec 3>"$tmp/to"
wait_until_runs $target server

# With a process in place of 4711, whose calls are short.
attach_to() {
	sed "s/4711/$target/; s/handle_request/handle/; s/slower-than 5ms/slower-than 1ns/"
}

# An attached target has to do something: its handle() is called while the example waits.
run_example() {
	case $1 in
	*'attach -p '*) (for _ in 1 2 3 4 5 6; do sleep 1; echo work >&3; done) & ;;
	esac
	until timeout -s TERM 600 bash -c "$1" >out 2>err; do
		status=$?
		# Somebody records allocations, and will have done so.
		grep -q 'end that tool' err && sleep 1 && continue
		echo "exit status $status"
		tail -n 5 out err
		return 1
	done
	! grep -q 'no hit' err
}

export BROWSER=true TMPDIR=$tmp
{
	trailcam --help | sed -n 's/^  \(trailcam .*\)/\1/p' | sed 's/   .*//'
	trailcam probes --help | sed -n 's/^  \(trailcam .*\)/\1/p'
	trailcam run --help | sed -n 's/^  \(trailcam .*\)/\1/p'
	sed -n '/^.SH EXAMPLES/,/^.SH "trailcam run"/s/^\.B \(trailcam .*\)/\1/p' docs/trailcam.1 | sed 's/\\-/-/g'
	sed -n 's/^    \$ \(trailcam .*\)/\1/p' README.md
} | awk '!seen[$0]++' | attach_to >"$tmp/examples"
check 'there are examples' [ "$(wc -l <"$tmp/examples")" -gt 12 ]
mkdir "$tmp/scratch" && cp "$programs/wordcount" "$tmp/scratch" && cd "$tmp/scratch" || exit 1
printf '#!/bin/sh\ntrap : SEGV\nkill -SEGV $$\n' >server && chmod +x server
while read -r line <&4; do check "$line" run_example "$line"; done 4<"$tmp/examples"

# --- a script is run by its interpreter, which has the symbols
hits_main() {
	trailcam run --source none -t main -o t.tsv -- "$@" >out 2>err && says err 'hit main' && says out "$greeting"
}
greeting='hello world'
printf '#!/bin/sh\necho hello $1\n' >script
printf '#! /usr/bin/env -S FOO=1 sh\necho hello $1\n' >script-env
printf '#!%s/script\n' "$PWD" >script-script
printf '#!/usr/bin/env no-such-interpreter\n' >script-none
chmod +x script*
check 'a script' hits_main ./script world
check 'by way of env' hits_main ./script-env world
greeting="hello ./script-script"
check 'a script of a script' hits_main ./script-script
says_so() {
	status_is "$1" trailcam run --source none -t "$2" -o t.tsv -- "$3" >out 2>err || return 1
	shift 3
	for text; do says err "$text" || return 1; done
}
check 'no such interpreter' says_so 125 main ./script-none 'the interpreter of the script ./script-none'

# --- a name that a stripped program has lost
cp /bin/ls stripped && strip stripped
if [ -s /var/lib/dpkg/info/coreutils.list ]; then
	check 'where the symbols of a stripped program are' says_so 125 no_such_function ls \
		coreutils-dbgsym 'debuginfod-find debuginfo /usr/bin/ls'
fi
check 'of one that no package has' says_so 125 no_such_function ./stripped 'stripped: only' 'debuginfod-find debuginfo ./stripped'

# --- scripts
printf 'import os\ndef slow():\n\tos.getppid()\nslow()\n' >moment.py
check 'a function of a script: what to do' says_so 125 slow /usr/bin/python3 'A function of a script cannot be a trigger' SCRIPTS
marks_a_moment() {
	trailcam run --source none -t libc.so.6:getppid -o t.tsv -- /usr/bin/python3 moment.py 2>err && says err 'hit libc.so.6:getppid'
}
check 'a moment in a script' marks_a_moment
cd "$root" || exit 1
exec 3>&-
wait "$target"
exit "$([ "$failures" -eq 0 ] && echo 0 || echo 1)"
