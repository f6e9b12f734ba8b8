#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What translating costs: processor time of a program, native and translated, in one run.
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

# row NAME PROGRAM...
row() {
	name=$1
	shift
	"$@" >/dev/null 2>&1
	native=$(seconds '' "$@")
	ours=$(seconds "$trailcam run -q --source translate --follow-forks -o $tmp/out.fxt.gz --" "$@")
	echo "$name $native $ours" | awk '{ printf "%-10s %8.2f s %8.2f s %6.2f times\n", $1, $2, $3, $3 / $2 }'
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
row gzip /bin/gzip -9c "$tmp/input"
row cc1 "$(gcc -print-prog-name=cc1)" -quiet -O2 "$tmp/rules.i" -o /dev/null
[ -x /usr/bin/sqlite3 ] && row sqlite3 /usr/bin/sqlite3 :memory: ".read $tmp/rows.sql"
[ -x /usr/bin/python3 ] && row python3 /usr/bin/python3 -c 'print(sum(i % 7 for i in range(3000000)))'
exit 0
