#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Bad input gets one clear sentence and a documented exit status, and leaves nothing behind.
. tests/e2e/lib.sh
exits=$programs/exits

# refused STATUS TEXT ARG...: trailcam ARG... fails so, in one line on stderr.
refused() {
	wanted=$1 text=$2
	shift 2
	status_is "$wanted" "$trailcam" "$@" >"$tmp/out" 2>"$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
	says "$tmp/err" "$text" || return 1
	[ ! -s "$tmp/out" ] || {
		echo 'something was printed on stdout'
		return 1
	}
}

one_line() {
	refused "$@" && [ "$(wc -l <"$tmp/err")" -eq 1 ] || {
		cat "$tmp/err"
		return 1
	}
}

o="$tmp/x.fxt.gz"
check 'no command' refused 2 'trailcam run -t'
check 'an unknown command lists those there are' one_line 2 'run, attach, probes, decode, report, view, doctor, dump' frobnicate
check 'a mistyped command' one_line 2 "did you mean 'decode'?" decdoe
check 'a mistyped option' one_line 125 '--trigerr; did you mean --trigger?' run --trigerr=main -- true
check 'an option that is like none' refused 2 "unrecognized option '--colour'" decode --colour
check 'an abbreviation of several' refused 125 'ambiguous' run --step main -- true
check 'no program' refused 125 'no program to run' run
check 'no such program' one_line 127 "no program 'no-such-program' in \$PATH" run -- no-such-program
check 'no such path' one_line 127 "no program './no/such'" run -- ./no/such
check 'not executable' one_line 126 'Permission denied' run -o "$o" -- ./README.md
check 'a directory' one_line 126 'Permission denied' run -o "$o" -- /tmp
printf '\177ELF garbage' >"$tmp/garbage" && chmod +x "$tmp/garbage"
check 'an executable that is none' one_line 126 'cannot run' run -o "$o" -- "$tmp/garbage"
check 'a bad size' refused 125 'power of two' run --snapshot-size 3M -- true
check 'a bad source' refused 125 'auto, intel_pt, translate, samples, step, none' run --source magic -- true
check 'a bad number' refused 125 'whole number' run --step-overflow x -- true
check 'an unknown output format' one_line 125 '.fxt' run -o "$tmp/x.mp3" -- true
check 'an output directory that is missing' one_line 125 "$tmp/none" run -o "$tmp/none/x.fxt" -- true
check 'a recording in the way' one_line 125 "$tmp" run --keep-recording "$tmp" -o "$o" -- true
check 'the kernel cannot be stepped' one_line 125 '--kernel belongs to --source intel_pt' run --source step --kernel -o "$o" -- true
check 'rings of threads are what stepping has' one_line 125 '--per-thread belongs to --source intel_pt' run --source step --per-thread -o "$o" -- true
check 'only the kernel, or what' refused 125 "is not 'only'" run --kernel=none -- true
if [ ! -e /sys/bus/event_source/devices/intel_pt ]; then
	check 'no Intel PT here: what to use instead' one_line 125 'use --source translate, samples or none' run --source intel_pt -o "$o" -- true
fi
check 'nothing was written' test ! -e "$o"

# --- magic-trace's flags
check 'its -trigger is no trigger named rigger' one_line 125 "-trigger is magic-trace's spelling: use --trigger=SYM or -t SYM" \
	run -trigger main -- "$exits" mark
check 'its -pid' one_line 2 'use --pid=PID or -p PID' attach -pid 1
check 'its -working-directory' one_line 2 '--keep-recording=DIR' decode -o "$o" -working-directory "$tmp"
check 'a value that looks like one is a value' one_line 125 "'-trigger'" run -t -trigger -o "$o" -- "$exits" mark
program_has_flags() {
	status_is 0 "$trailcam" run --source none --on-signal USR2 -o "$tmp/t.tsv" -- echo -trigger main >"$tmp/out" 2>/dev/null && says "$tmp/out" '-trigger main' &&
		status_is 0 "$trailcam" run --source none --on-signal USR2 -o "$tmp/t.tsv" echo -output >"$tmp/out" 2>/dev/null && says "$tmp/out" '-output'
}
check "the program's own flags are its own" program_has_flags
rm -f "$tmp/t.tsv"

# --- triggers
check 'no such symbol: near matches' one_line 125 'marker' run -t markr -o "$o" -- "$exits" mark
check 'no such library' one_line 125 'libnothing.so' run -t libnothing.so:puts -o "$o" -- "$exits" mark
check 'no such symbol in a library' one_line 125 'libc.so.6' run -t libc.so.6:putz -o "$o" -- "$exits" mark
check 'not an ELF file' one_line 125 'README.md' run -t ./README.md:main -o "$o" -- "$exits" mark
cp "$exits" "$tmp/elf32" && printf '\001' | dd of="$tmp/elf32" bs=1 seek=4 conv=notrunc 2>/dev/null
check 'a 32-bit program' one_line 125 '32-bit' run -o "$o" -- "$tmp/elf32"
check 'nothing ran' test ! -e "$o"

# --- recordings
check 'no recording given' refused 2 'no recording given' decode
check 'no such recording' one_line 1 "$tmp/nothing" decode "$tmp/nothing" -o "$o"
check 'not a recording' one_line 1 'README.md' decode README.md -o "$o"
check 'no such amount of memory' refused 2 "'lots' is not a size" decode --memory=lots "$tmp/nothing"
check 'no such decoder' refused 2 "there is no decoder 'best'" decode --decoder=best "$tmp/nothing"
check 'dump: say what to show' refused 2 'say what to show' dump "$tmp/nothing"
check 'dump: one view at a time' refused 2 'one view at a time' dump --slices --hits "$tmp/nothing"
"$trailcam" run --source step -o "$o" --keep-recording "$tmp/rec" -- "$programs/calls" 2>/dev/null
mkdir "$tmp/cut"
cut_off() {
	head -c "$1" "$tmp/rec/data" >"$tmp/cut/data"
	one_line 1 "$tmp/cut" decode "$tmp/cut" -o "$tmp/cut.fxt"
}
check 'an empty recording' cut_off 0
check 'a recording cut off in its header' cut_off 50
check 'a recording cut off in its data' cut_off "$(($(stat -c %s "$tmp/rec/data") / 2))"
check 'nothing was written for it' test ! -e "$tmp/cut.fxt"

# --- disk full: a good file stays
if mkdir "$tmp/small" && mount -t tmpfs -o size=32k tmpfs "$tmp/small" 2>/dev/null; then
	echo precious >"$tmp/small/x.fxt"
	dd if=/dev/zero of="$tmp/small/filler" bs=1k 2>/dev/null
	check 'disk full' one_line 1 'No space left' decode "$tmp/rec" -o "$tmp/small/x.fxt"
	check 'the older file stays' says "$tmp/small/x.fxt" precious
	check 'no partial file' sh -c "[ \$(ls -A '$tmp/small' | wc -l) -eq 2 ]"
	full_recording() {
		rm -f "$o"
		status_is 125 "$trailcam" run --source step -o "$o" --keep-recording "$tmp/small/rec" --json "$tmp/result" -- "$programs/calls" 2>"$tmp/err" &&
			says "$tmp/err" 'No space left' && [ ! -e "$tmp/small/rec" ] && [ -s "$o" ] && ! grep -q recording "$tmp/result"
	}
	check 'disk full while the recording is kept' full_recording
	umount "$tmp/small"
else
	skip 'disk full' 'no tmpfs can be mounted here'
fi
# --- limits of this process: nothing is begun, or nothing is left
# limited LIMIT STATUS TEXT ARG...: as refused(), within a limit of ulimit.
limited() {
	limit=$1 wanted=$2 text=$3
	shift 3
	status_is "$wanted" sh -c "ulimit $limit"' && exec "$@"' sh "$trailcam" "$@" >"$tmp/out" 2>"$tmp/err" && says "$tmp/err" "$text"
}
file_limit() {
	limited '-f 1' 1 'File too large' decode "$tmp/rec" -o "$tmp/large.fxt" && [ ! -e "$tmp/large.fxt" ] &&
		limited '-f 1' 125 'File too large' run --source step -o "$tmp/large.fxt" --keep-recording "$tmp/large" -- true &&
		[ ! -e "$tmp/large" ] && [ ! -e "$tmp/large.fxt" ]
}
check 'a limit of file sizes' file_limit
# What a program returns that has failed is not lost where the trace is.
keeps_status() {
	status_is 7 "$trailcam" run --source samples -o /dev/full -- sh -c 'exit 7' 2>"$tmp/err" && says "$tmp/err" 'No space left' &&
		status_is 143 "$trailcam" run --source samples -o /dev/full -- sh -c 'kill -TERM $$' 2>"$tmp/err" && says "$tmp/err" 'No space left' &&
		limited '-d 300000' 7 'the recording ends here' run --source translate --snapshot-size 1G -o "$o" -- sh -c 'exit 7'
}
check 'the status of a program where its trace is lost' keeps_status
file_limit_is_its_own() {
	"$trailcam" run -q --source samples -o "$o" -- sh -c 'ulimit -f 1; cat /bin/sh >"$0"; echo $?' "$tmp/limited" >"$tmp/out" 2>/dev/null && says "$tmp/out" 153
}
check 'a program dies of its own limit' file_limit_is_its_own
descriptor_limit() {
	limited '-n 12' 125 'a recording needs' run --source step -o "$o" -- touch "$tmp/begun" && [ ! -e "$tmp/begun" ]
}
check 'a limit of file descriptors' descriptor_limit
check '/dev/full' one_line 1 'No space left' decode "$tmp/rec" -o /dev/full

# --- docs/troubleshooting.md: messages are quoted as the program has them, "..." standing for what it fills
# in
quotes_messages() {
	strings -n 4 "$trailcam" >"$tmp/strings"
	sed -n 's/^| \(`.*`[^|]*\) | .*/\1/p' docs/troubleshooting.md | grep -o '`[^`]*`' | tr -d '`' | sed 's/\.\.\./\n/g' |
		sed 's/^ *//; s/ *$//' | grep '....' >"$tmp/quotes"
	[ "$(wc -l <"$tmp/quotes")" -gt 50 ] || return 1
	while read -r quote; do says "$tmp/strings" "$quote" >/dev/null || { echo "no message has '$quote'"; return 1; }; done <"$tmp/quotes"
}
check 'docs/troubleshooting.md quotes what the program says' quotes_messages
finish
