#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What translating costs: processor time of a program, native and translated by turns, and whether that meets
# its goal.
#
#	translate.sh BUILD
set -u
trailcam=$1/trailcam
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# seconds WAY PROGRAM...: of processor time; WAY stands before what is measured.
seconds() {
	way=$1
	shift
	# shellcheck disable=SC2086 # words
	$way bash -c 'TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>&1' - "$@" 2>&1 | awk '{ print $1 + $2 }'
}

# row NAME BOUND PROGRAM...
row() {
	name=$1
	bound=$2
	shift 2
	"$@" >/dev/null 2>&1
	for _ in 1 2 3; do
		native=$(seconds '' "$@")
		ours=$(seconds "$trailcam run -q --source translate --follow-forks -o $tmp/out.fxt.gz --" "$@")
		echo "$native $ours"
	done | awk '{ print $1, $2, $2 / $1 }' | sort -n -k3 >"$tmp/row"
	sed -n 2p "$tmp/row" | awk -v name="$name" '{ printf "%-10s %8.2f s %8.2f s %6.2f times\n", name, $1, $2, $3 }'
	tell_goal "translated in times native: $name" "$bound" <"$tmp/row"
}

# tell_goal WHAT BOUND: as tests/bench/figures.h does, of three sorted rows that end with the figures.
tell_goal() {
	awk -v what="$1" -v bound="$2" -v now="$(date +%s)" -v history="${BENCH_HISTORY:-/dev/null}" '
		{ figure[NR] = $NF }
		END {
			printf "goal %-8s %8.2f  (%.2f to %.2f), at most %-4g  %s\n", figure[2] <= bound ? "met" : "not met",
				figure[2], figure[1], figure[3], bound, what
			printf "%d\tgoal\t%s\t%.6f\t%.6f\t%.6f\n", now, what, figure[2], figure[1], figure[3] >>history
		}'
}

cat "$1"/lib/*.a "$1/trailcam" | head -c 5000000 >"$tmp/input"
cat >"$tmp/rows.sql" <<'SQL'
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000) insert into t select x, x * 7919 % 10007 from c;
create index i on t(b);
select count(*), sum(a) from t where b between 100 and 5000;
SQL
gcc -E -D_GNU_SOURCE -I. -Iuser user/stacks/rules.c -o "$tmp/rules.i"
printf '%-10s %10s %10s\n' program native translated
row gzip 1.3 /bin/gzip -9c "$tmp/input"
row cc1 3.5 "$(gcc -print-prog-name=cc1)" -quiet -O2 "$tmp/rules.i" -o /dev/null
[ -x /usr/bin/sqlite3 ] && row sqlite3 2.5 /usr/bin/sqlite3 :memory: ".read $tmp/rows.sql"
[ -x /usr/bin/python3 ] && row python3 4 /usr/bin/python3 -c 'print(sum(i % 7 for i in range(3000000)))'
exit 0
