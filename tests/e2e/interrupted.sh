#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A signal before the recording begins ends trailcam by that signal, with a sentence. Nothing is written, a program has
# not run, and a target goes on as before. While the trace is written the second signal does so. A pipe that nobody
# reads holds trailcam up meanwhile.
. tests/e2e/lib.sh
ours=
trap 'kill_ours $ours; wait 2>/dev/null; rm -rf "$tmp"' EXIT
mkfifo "$tmp/log.tsv"

has_worker() {
	grep -q . "/proc/$1/task/$1/children"
}

# ended_early SIGNAL NUMBER ARGUMENT...: trailcam, while it is held up.
ended_early() {
	sent=$1 number=$2
	shift 2
	env --default-signal=INT,QUIT "$trailcam" "$@" >"$tmp/out" 2>"$tmp/err" &
	front=$!
	ours="$ours $front"
	wait_until has_worker $front || return 1
	worker=$(cat /proc/$front/task/$front/children)
	kill -"$sent" $front
	wait $front
	[ $? -eq $((128 + number)) ] || return 1
	grep -v 'warning: single-stepping' "$tmp/err" >"$tmp/said"
	echo "trailcam: ended by SIG$sent before the recording began: nothing is written" | cmp - "$tmp/said" &&
		[ ! -e "$tmp/t.tsv" ] && [ ! -s "$tmp/out" ] && wait_until [ ! -e "/proc/${worker% }" ]
}

run_ends() {
	for signal in INT:2 TERM:15 HUP:1 QUIT:3; do
		ended_early ${signal%:*} ${signal#*:} run --source step --step-log "$tmp/log.tsv" -o "$tmp/t.tsv" -- touch "$tmp/touched" || return 1
	done
	[ ! -e "$tmp/touched" ]
}
check 'run: the program does not run' run_ends

has_worked() {
	[ "$(od -An -v -t u8 -N 8 "$tmp/busy")" != "$1" ]
}
attach_ends() {
	"$programs/busy" "$tmp/busy" 2 &
	target=$!
	ours="$ours $target"
	wait_until test -s "$tmp/busy" || return 1
	for signal in INT:2 TERM:15 HUP:1 QUIT:3; do
		ended_early ${signal%:*} ${signal#*:} attach --source step --step-log "$tmp/log.tsv" -o "$tmp/t.tsv" -p $target || return 1
	done
	untraced "$target" || return 1
	before=$(od -An -v -t u8 -N 8 "$tmp/busy")
	wait_until has_worked "$before"
}
check 'attach: the target goes on' attach_ends

# writes SOURCE ARGUMENT...: the recording of `busy` is over, and its trace is to be written, in a process group
# of its own.
writes() {
	: >"$tmp/err" # what the one before it has said
	setsid env --default-signal=INT,QUIT "$trailcam" attach --source "$@" -o "$tmp/log.tsv" -p $target 2>"$tmp/err" &
	front=$!
	ours="$ours $front"
}
ended_late() {
	sleep 1.1
	kill -"$1" $front
	wait $front
	[ $? -eq $((128 + $2)) ] && says "$tmp/err" "ended by SIG$1 before all was written" && untraced "$target"
}
second_ends() {
	for signal in INT:2 TERM:15 HUP:1 QUIT:3; do
		writes step --duration 50ms && wait_for "$tmp/err" 'the time is up' || return 1
		kill -"${signal%:*}" $front
		wait_for "$tmp/err" "the trace is being written: another SIG${signal%:*} ends trailcam without it" &&
			ended_late ${signal%:*} ${signal#*:} || return 1
	done
}
check 'a signal while the trace is written is said, and the next one ends trailcam' second_ends
# It comes to the process that works, and to the one that waits for it, which passes it on.
group_counts_once() {
	writes step --duration 50ms && wait_for "$tmp/err" 'the time is up' || return 1
	env kill -s TERM -- -$front
	wait_for "$tmp/err" 'another SIGTERM ends' && sleep 0.3
	cat "$tmp/log.tsv" >/dev/null
	wait $front && says "$tmp/err" "wrote $tmp/log.tsv"
}
check 'one that is sent to the process group is one' group_counts_once
first_counts() {
	writes step --max-stall none -v && wait_for "$tmp/err" 'debug: attached' || return 1
	kill -TERM $front
	wait_for "$tmp/err" 'interrupted: the trace ends here' && ended_late TERM 15
}
check 'the one that ended the recording counts' first_counts

# It reads until its standard input ends, and says what comes.
cat >"$tmp/target" <<'END'
#!/bin/sh
trap 'echo TERM' TERM
echo ready
until read -r line; [ "$line" = end ]; do :; done
exit 7
END
chmod +x "$tmp/target"
# has_terms COUNT
has_terms() {
	[ "$(grep -c TERM "$tmp/out")" -ge "$1" ]
}
for_the_target() {
	mkfifo "$tmp/in"
	env --default-signal=INT,QUIT "$trailcam" run --source step --duration 50ms -o "$tmp/log.tsv" "$tmp/target" <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
	front=$!
	ours="$ours $front"
	exec 9>"$tmp/in" && wait_for "$tmp/err" 'the time is up' && wait_for "$tmp/out" ready || return 1
	for cnt in 1 2; do
		kill -TERM $front
		wait_until has_terms $cnt || return 1
	done
	cat "$tmp/log.tsv" >/dev/null
	echo end >&9
	wait $front
	[ $? -eq 7 ] && says "$tmp/err" "wrote $tmp/log.tsv"
}
check 'run: while the program runs they are for it' for_the_target
finish
