#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What translating costs: processor time of programs, native, translated, and under what else runs programs
# another way, if it is installed. All ways of one program in turns; medians, how many times native they are, and
# whether that meets the goals.
#
#	translate.sh BUILD [-g]		-g: only whether goals are met
set -u
trailcam=$1/trailcam
only_goals=${2:-}
turns=3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# one WAY PROGRAM...: seconds of processor time, without what trailcam does meanwhile and afterwards; nothing
# if it fails.
one() {
	way=$1
	shift
	case $way in
	valgrind) set -- valgrind --tool=none -q "$@" ;;
	qemu-x86_64) set -- qemu-x86_64 "$@" ;;
	esac
	set -- bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1 || exit 1' - "$@"
	case $way in
	translate) set -- "$trailcam" run -q --source translate --timer-resolution=normal --follow-forks -o "$tmp/out.fxt.gz" -- "$@" ;;
	high) set -- "$trailcam" run -q --source translate --timer-resolution=high --follow-forks -o "$tmp/out.fxt.gz" -- "$@" ;;
	esac
	times=$("$@" 2>&1) && echo "$times" | awk '{ print $1 + $2 }'
}

median() {
	sort -n "$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] + 0 }'
}

# row NAME BOUND BOUND_HIGH PROGRAM...: the goals, with some times and with all; "-": there is none.
row() {
	name=$1 bound=$2 bound_high=$3
	shift 3
	[ -n "$only_goals" ] && ways='native translate' && [ "$bound_high" != - ] && ways="$ways high"
	rm -f "$tmp"/way.*
	"$@" >/dev/null 2>&1
	for _ in $(seq "$turns"); do
		for way in $ways; do
			one "$way" "$@" >>"$tmp/way.$way"
		done
	done
	native=$(median "$tmp/way.native")
	printf '%-10s %8.2f s' "$name" "$native"
	for way in $ways; do
		[ "$way" = native ] || echo "$(median "$tmp/way.$way") $native" | awk '{ printf $1 ? " %11.2f x" : "        failed", $1 / $2 }'
	done
	echo
	tell_goal translate "translated in times native: $name" "$bound"
	tell_goal high "translated in times native, all calls timed: $name" "$bound_high"
}

# tell_goal WAY WHAT BOUND: as tests/bench/figures.h does, of each turn's figure.
tell_goal() {
	[ "$3" = - ] || paste "$tmp/way.$1" "$tmp/way.native" | awk '$2 { print $1 / $2 }' | sort -n |
		awk -v what="$2" -v bound="$3" -v now="$(date +%s)" -v history="${BENCH_HISTORY:-/dev/null}" '
		{ figure[NR] = $1 }
		END {
			median = figure[int((NR + 1) / 2)]
			printf "goal %-8s %8.2f  (%.2f to %.2f), at most %-4g  %s\n", median <= bound ? "met" : "not met",
				median, figure[1], figure[NR], bound, what
			printf "%d\tgoal\t%s\t%.6f\t%.6f\t%.6f\n", now, what, median, figure[1], figure[NR] >>history
		}'
}

ways='native translate high'
for way in valgrind qemu-x86_64; do
	[ -z "$only_goals" ] && command -v $way >/dev/null && ways="$ways $way"
done
cat "$1"/lib/*.a "$1/trailcam" | head -c 5000000 >"$tmp/input"
cat >"$tmp/rows.sql" <<'SQL'
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000) insert into t select x, x * 7919 % 10007 from c;
create index i on t(b);
select count(*), sum(a) from t where b between 100 and 5000;
SQL
cat user/stacks/rules*.c | gcc -E -D_GNU_SOURCE -I. -Iuser -xc - -o "$tmp/rules.i"
# A compiler that runs longer: many functions, no two alike.
awk 'BEGIN { for (i = 0; i < 150; i++)
	printf "int f%d(int *a, int n) { int s = %d; for (int i = 0; i < n; i++) { if (a[i] > s) s += a[i] * %d; else if (a[i] & %d) s ^= a[i] << %d; else a[i] = s; switch (s & 7) { case %d: s++; break; case 5: s -= n; } } return s; }\n", i, i, i % 13, i % 31 + 1, i % 5, i % 4 }' >"$tmp/many.c"
cc1=$(gcc -print-prog-name=cc1)
printf '%-10s %10s' program native
for way in $ways; do
	[ $way = native ] || printf ' %13s' "$way"
done
echo
row gzip 1.3 - /bin/gzip -9c "$tmp/input"
row cc1 3.5 5 "$cc1" -quiet -O2 "$tmp/rules.i" -o /dev/null
(ways='native translate high' && row 'cc1, long' 2.5 - "$cc1" -quiet -O2 "$tmp/many.c" -o /dev/null)
[ -x /usr/bin/sqlite3 ] && row sqlite3 2.5 - /usr/bin/sqlite3 :memory: ".read $tmp/rows.sql"
[ -x /usr/bin/python3 ] && row python3 4 8 /usr/bin/python3 -c 'print(sum(i % 7 for i in range(3000000)))'
[ -n "$only_goals" ] && exit 0

# Stepping is for short programs only: by the clock, the most of which trailcam waits.
true_ms() {
	before=$(date +%s%N)
	"$@" /bin/true >/dev/null 2>&1
	echo $((($(date +%s%N) - before) / 1000000))
}
echo "/bin/true: native $(true_ms env) ms, translate $(true_ms "$trailcam" run -q --source translate -o /dev/null --) ms, step $(true_ms "$trailcam" run -q --source step -o /dev/null --) ms"
