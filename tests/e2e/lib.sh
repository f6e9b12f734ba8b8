# SPDX-License-Identifier: BSD-2-Clause
# For end-to-end tests: `. tests/e2e/lib.sh`, then check/skip. BUILD names the build to test. Each test works
# in a directory of its own, $tmp, which goes away at the end unless KEEP is set.
set -u
BUILD=${BUILD:-build}
trailcam=$PWD/$BUILD/trailcam
programs=$PWD/$BUILD/tests/programs
tmp=$(mktemp -d)
trap '[ -n "${KEEP:-}" ] || rm -rf "$tmp"' EXIT
failures=0

# took NAME: what it took since the last one, in hundredths of a second, for tests/run.sh.
took() {
	read -r now _ </proc/uptime
	now=${now%.*}${now#*.}
	[ -z "${last_took:-}" ] || echo "$((now - last_took)) ${0#tests/e2e/}: $1" >>"${CHECK_TIMES:-/dev/null}"
	last_took=$now
}
took beginning

# check NAME COMMAND...: passes if the command succeeds.
check() {
	check_name=$1
	shift
	if "$@" >"$tmp/check.out" 2>&1; then
		check_status=ok
	else
		check_status=
	fi
	took "$check_name"
	if [ -n "$check_status" ]; then
		echo "ok - $check_name"
	else
		echo "not ok - $check_name"
		echo "# $*"
		sed 's/^/# /' "$tmp/check.out" | head -20
		[ ! -s "$tmp/err" ] || sed 's/^/# said: /' "$tmp/err" | tail -5
		failures=$((failures + 1))
	fi
}

skip() {
	echo "skip - $1: $2"
}

# Both decoders give the same of every recording that the test has left.
finish() {
	recordings=$(find "$tmp" -name data -type f -size +1k | sed 's,/data$,,')
	if [ -n "$recordings" ]; then
		# shellcheck disable=SC2086
		check "both decoders give the same, $(echo "$recordings" | wc -l) times" \
			"$PWD/$BUILD/tests/oracle/decoders" -v $recordings
		cat "$tmp/check.out"
	fi
	exit "$([ "$failures" -eq 0 ] && echo 0 || echo 1)"
}

# kill_ours PID...: those of them that still are of this session. The number of one that has ended may be
# somebody else's by now.
kill_ours() {
	for pid; do
		[ "$(ps -o sid= -p "$pid")" = "$(ps -o sid= -p $$)" ] && kill -9 "$pid"
	done 2>/dev/null
}

# says FILE TEXT: the file contains the text.
says() {
	grep -qF -- "$2" "$1" || {
		echo "'$2' is not in:"
		cat "$1"
		return 1
	}
}

# wait_until COMMAND...: until it succeeds. Ten minutes are for what hangs, not for what is slow on a busy
# machine.
wait_until() {
	for _ in $(seq 12000); do
		"$@" && return 0
		sleep 0.05
	done >/dev/null 2>&1
	echo "waited in vain for: $*"
	return 1
}

# asleep PID: all of its threads wait for something.
asleep() {
	[ -d "/proc/$1" ] && ! cat /proc/"$1"/task/*/status | grep '^State:' | grep -qv '(sleeping)'
}

# untraced PID: it is there, and none of its threads is traced or stopped.
untraced() {
	[ -d "/proc/$1" ] && ! cat /proc/"$1"/task/*/status | grep -E '^TracerPid:	[1-9]|^State:	[tT]'
}

# same_again RECORDING TRACE: decoded once more it is the trace that was written at once.
same_again() {
	"$trailcam" decode -o "$tmp/again.json" "$1" 2>"$tmp/err" && cmp "$2" "$tmp/again.json"
}

# wait_for FILE TEXT: until the file contains the text.
wait_for() {
	wait_until grep -sF -- "$2" "$1" || {
		cat "$1"
		return 1
	}
}

runs() {
	case $(readlink "/proc/$1/exe") in
	*/"$2") grep -qs 'libc\.so' "/proc/$1/maps" ;;
	*) return 1 ;;
	esac
}

# wait_until_runs PID NAME: until the process has executed that program, and has its C library.
wait_until_runs() {
	wait_until runs "$1" "$2"
}

# status_is WANTED COMMAND...: the command's exit status.
status_is() {
	wanted=$1
	shift
	"$@"
	got=$?
	[ "$got" -eq "$wanted" ] || {
		echo "exit status $got, not $wanted"
		return 1
	}
}

# until_long LOG COMMAND...: ends it by Ctrl-C when the log is long enough.
until_long() {
	until_log=$1
	shift
	env --default-signal=INT "$@" &
	until [ "$(wc -l <"$until_log" 2>/dev/null || echo 0)" -gt 60000 ] || ! kill -0 $! 2>/dev/null; do sleep 0.2; done
	kill -INT $! 2>/dev/null
	wait $!
}

# Whether probes can be attached here; tests that need it are skipped with this reason.
bpf_missing() {
	[ -n "${bpf_reason+x}" ] || {
		bpf_reason=
		"$trailcam" run -t main -o "$tmp/probe.fxt" -- "$programs/wordcount" >/dev/null 2>"$tmp/probe.err" ||
			bpf_reason=$(head -1 "$tmp/probe.err")
	}
	[ -n "$bpf_reason" ]
}

# translate ARGUMENT...: the trace is $tmp/out.fxt.gz.
translate() {
	timeout 500 "$trailcam" run -q --source translate -o "$tmp/out.fxt.gz" "$@"
}

# same STATUS PROGRAM...: status and output are those of the native run, and nothing was given back.
same() {
	want=$1
	shift
	"$@" >"$tmp/native" 2>&1 </dev/null
	native=$?
	translate -- "$@" >"$tmp/translated" 2>"$tmp/said" </dev/null
	status=$?
	cat "$tmp/said" >>"$tmp/translated"
	[ $native -eq "$want" ] && [ $status -eq "$want" ] && diff "$tmp/native" "$tmp/translated"
}

# both NAME PROGRAM...: its instructions, a line each with the thread before it: $tmp/NAME.stepped, and
# $tmp/NAME.recorded by source translate.
both() {
	name=$1
	shift
	setarch -R "$trailcam" run --source step --snapshot-size 64M --step-log "$tmp/$name.log" -o "$tmp/$name.fxt.gz" -- "$@" >/dev/null 2>&1
	setarch -R "$trailcam" run -q --source translate --snapshot-size 64M --keep-recording "$tmp/$name.rec" -o "$tmp/$name.fxt.gz" -- "$@" >/dev/null || return 1
	cut -d' ' -f1,2 "$tmp/$name.log" >"$tmp/$name.stepped"
	"$trailcam" dump --instructions "$tmp/$name.rec" | cut -d' ' -f1,2 >"$tmp/$name.recorded"
}

# agree NAME MINIMUM PROGRAM...: they are the same, and so many at least.
agree() {
	name=$1 minimum=$2
	shift 2
	both "$name" "$@" || return 1
	for side in stepped recorded; do cut -d' ' -f2 "$tmp/$name.$side" >"$tmp/$name.$side.only"; done
	[ "$(wc -l <"$tmp/$name.stepped")" -ge "$minimum" ] && cmp "$tmp/$name.stepped.only" "$tmp/$name.recorded.only"
}
