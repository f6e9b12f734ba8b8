#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs tests, given as programs (cmocka) and scripts (tests/e2e/lib.sh), several at a time and in the order
# given. Shows what fails, what is skipped and why, counts, and names what took longest. What one test prints
# stays together; what failed is named again at the end. Usage: tests/run.sh TEST...
#	JOBS=1		how many tests at a time (default: one more than there are processors, since most tests often wait)
#	ALONE='T...'	these run after the others, one at a time
#	BESIDE='T...'	these run beside those that are alone (unless JOBS=1), one at a time, and let them go first
#	LIMIT=600	a test that prints nothing for so many seconds is killed
#	V=1		show everything
set -u

# cmocka names what it skips or fails twice.
count() {
	grep "$1" "$out" | sort -u | wc -l
}

# Hundredths of a second since the machine began.
clock() {
	read -r now _ </proc/uptime
	echo "${now%.*}${now#*.}"
}

# What the test says has failed.
failures() {
	grep -E '^not ok - |^\[  FAILED  \] test_.*[^)]$' "$out" | sort -u
}

# show TEST: what became of it, from $out, $status and $took; adds "PASSED FAILED SKIPPED TOOK TEST" to the
# counts.
show() {
	ok=$(($(count '^\[       OK \]') + $(count '^ok - ')))
	bad=$(failures | wc -l)
	skip=$(($(count '^\[  SKIPPED \] test_') + $(count '^skip - ')))
	# A test that dies, hangs or runs nothing has failed, whatever it printed.
	if [ $status -ne 0 ] && [ $bad -eq 0 ]; then bad=1; fi
	if [ $((ok + bad + skip)) -eq 0 ]; then bad=1; fi
	echo "$ok $bad $skip $took ${1#"$BUILD"/}" >>"$RUN_DIR/counts"
	printf '  %-44s %3d passed' "${1#"$BUILD"/}" "$ok"
	[ $skip -eq 0 ] || printf ', %d skipped' "$skip"
	[ $bad -eq 0 ] || printf ', %d FAILED (status %d)' "$bad" "$status"
	[ "$took" -lt 1000 ] || printf ', %d s' $((took / 100))
	printf '\n'
	grep -E '^skip - |^skipped: ' "$out" | sed 's/^/      /'
	if [ -n "${V:-}" ]; then
		sed 's/^/      | /' "$out" | tail -60
	elif [ $bad -ne 0 ]; then
		grep -vE '^ok - |^\[       OK \]|^\[ RUN' "$out" | sed 's/^/      | /' | head -60
	fi
	[ $bad -eq 0 ] || {
		failures | grep . || echo "status $status"
	} | sed "s|^|  ${1#"$BUILD"/}: |" >>"$RUN_DIR/failed"
}

# Kills the test once it stands still: on a busy machine it may be slow, so what counts is that its output
# grows.
watch() {
	quiet=0 before=
	while [ $quiet -lt "${LIMIT:-600}" ]; do
		sleep 5
		size=$(stat -c %s "$out")
		if [ "$size" = "$before" ]; then quiet=$((quiet + 5)); else quiet=0; fi
		before=$size
	done
	echo "not ok - killed: it printed nothing for $quiet s" >>"$out"
	env kill -s KILL -- "-$1"
}

# run_one TEST: with these variables of the environment only. Every further one is read 35 times by each
# program's dynamic loader, instruction by instruction where the program is stepped.
run_one() {
	test=$1
	set -- "CHECK_TIMES=$out.times"
	for name in PATH HOME USER LOGNAME TERM TMPDIR BUILD CORPUS KEEP KILL_ROUNDS VM_LIMIT http_proxy https_proxy no_proxy; do
		eval "[ -z \"\${$name+x}\" ] || set -- \"\$@\" \"$name=\$$name\""
	done
	exec setsid env -i "$@" "$test"
}

# Called by itself, for one test.
if [ -n "${RUN_DIR:-}" ]; then
	out=$RUN_DIR/$$.out
	began=$(clock)
	run_one "$1" >"$out" 2>&1 </dev/null &
	test=$!
	watch $test >/dev/null 2>&1 &
	watcher=$!
	trap 'env kill -s KILL -- -$test; kill $watcher; exit 130' INT TERM HUP
	wait $test
	status=$?
	{ kill $watcher && wait $watcher; } 2>/dev/null
	took=$(($(clock) - began))
	show "$1" >"$out.shown"
	flock "$RUN_DIR" cat "$out.shown"
	exit 0
fi

# run HOW_MANY_AT_A_TIME NICENESS TEST...: Ctrl-C ends it in the background, too
run() {
	jobs=$1 niceness=$2
	shift 2
	[ $# -eq 0 ] || printf '%s\0' "$@" | env --default-signal=INT xargs -0 -n 1 -P "$jobs" nice -n "$niceness" "$0"
}

# slowest WHAT: of the lines "HUNDREDTHS NAME", those that took longest.
slowest() {
	sort -rn | head -n 8 | awk -v what="$1" '
		NR == 1 { print what ":" }
		{ took = $1; sub(/^[0-9]+ /, ""); printf "  %7.1f s  %s\n", took / 100, $0 }'
}

BUILD=${BUILD:-build}
RUN_DIR=$(mktemp -d)
export BUILD RUN_DIR
trap 'rm -rf "$RUN_DIR"' EXIT
trap 'exit 130' INT TERM HUP
: >"$RUN_DIR/counts"
began=$(clock)
JOBS=${JOBS:-$(($(nproc) + 1))}
[ "$JOBS" -gt 1 ] || BESIDE=
alone= beside=
tests=$#
for test; do
	shift
	case " ${ALONE:-} : ${BESIDE:-} " in
	*" $test "*:*) alone="$alone $test" ;;
	*:*" $test "*) beside="$beside $test" ;;
	*) set -- "$@" "$test" ;;
	esac
done
run "$JOBS" 0 "$@"
# shellcheck disable=SC2086 # lists of words
{
	run 1 19 $beside &
	run 1 0 $alone
	wait
}
awk '{ print $4, $5 }' "$RUN_DIR/counts" | slowest 'slowest tests'
cat "$RUN_DIR"/*.times 2>/dev/null | slowest 'slowest checks'
[ ! -e "$RUN_DIR/failed" ] || { echo 'failed:' && cat "$RUN_DIR/failed"; }
awk -v tests=$tests -v took=$(($(clock) - began)) '
	{ passed += $1; failed += $2; skipped += $3 }
	END {
		failed += tests - NR
		printf "%d passed, %d failed, %d skipped in %d s\n", passed, failed, skipped, took / 100
		exit failed != 0
	}' "$RUN_DIR/counts"
