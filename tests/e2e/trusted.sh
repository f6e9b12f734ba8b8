#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a program that is given capabilities, or runs as root, must not give away: who may read what it writes.
# And what the names of others must not do: colour a terminal, forge a line, or compute in a spreadsheet.
. tests/e2e/lib.sh

# modes WANTED FILE...: the permissions of each.
modes() {
	wanted=$1
	shift
	stat -c '%a %n' "$@" | grep -v "^$wanted " && return 1
	[ $# -gt 0 ]
}

# --- who may read it

# Every format, onto what others could read, with the umask that takes nothing away.
outputs_are_private() {
	mkdir "$tmp/written" || return 1
	(
		umask 0
		set --
		for name in t.fxt t.fxt.gz t.pftrace t.json t.speedscope.json t.folded t.pb.gz t.txt t.csv t.tsv t.html t.txt.zst; do
			echo old >"$tmp/written/$name" && set -- "$@" -o "$tmp/written/$name"
		done
		echo old >"$tmp/written/log"
		"$trailcam" run --source step --step-log "$tmp/written/log" --keep-recording "$tmp/rec" "$@" -- "$programs/exits" none
		"$trailcam" decode -o "$tmp/written/decoded.txt" "$tmp/rec" && "$trailcam" view -o "$tmp/written/view.html" "$tmp/rec"
	) >/dev/null 2>"$tmp/err"
	modes 600 "$tmp"/written/* && modes 600 "$tmp"/rec/* && modes 700 "$tmp/rec" && [ -s "$tmp/written/log" ] &&
		[ "$(find "$tmp/written" -type f | wc -l)" -eq 15 ]
}
check 'outputs, recordings and step logs: for their owner only' outputs_are_private

page_is_private() {
	(umask 0; TMPDIR=$tmp "$trailcam" view "$tmp/rec" 2>"$tmp/err") || return 1
	page=$(sed -n 's/^trailcam: wrote \(.*\.html\): .*/\1/p' "$tmp/err")
	modes 600 "$page" && modes 700 "${page%/*}"
}
check 'a page in a temporary folder, too' page_is_private

if bpf_missing; then
	skip 'allocation traces: for their owner only' "$bpf_reason"
else
	allocations_are_private() {
		(umask 0; "$trailcam" memtrace record --interval 1 -o "$tmp/m.ctf" -- "$programs/wordcount" && "$trailcam" memtrace flamegraph -o "$tmp/m.html" "$tmp/m.ctf" &&
			"$trailcam" memtrace convert -o "$tmp/m.fxt" "$tmp/m.ctf") >/dev/null 2>"$tmp/err" || cat "$tmp/err"
		modes 600 "$tmp"/m.*
	}
	check 'allocation traces: for their owner only' allocations_are_private
fi

# A pipe or a device is written as it is.
into_a_pipe() {
	mkfifo -m 644 "$tmp/fifo" && (cat "$tmp/fifo" >"$tmp/piped" &)
	"$trailcam" run --source step --step-log "$tmp/fifo" -o /dev/null -- "$programs/exits" none >/dev/null 2>&1
	[ -p "$tmp/fifo" ] && modes 644 "$tmp/fifo" && wait_until test -s "$tmp/piped" && [ -s "$tmp/piped" ]
}
check 'a pipe stays one' into_a_pipe

# --- names of any bytes

# tame FILE: no control characters but newlines and tabs, nothing that changes the direction of writing.
tame() {
	python3 -c '
import sys, unicodedata
text = open(sys.argv[1], newline="").read()
bad = sorted({hex(ord(c)) for c in text if (unicodedata.category(c) == "Cc" and c not in "\n\t\r") or
	0x2028 <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069})
assert not bad and text, bad' "$1" || {
		echo "in $1"
		return 1
	}
}

strange=$(printf 'h\033[31mx\nforged \302\233\342\200\256y')
mkdir "$tmp/names" && cp "$programs/wordcount" "$tmp/names/$strange"
shown='h\x1b[31mx\nforged \u009b\u202ey'

strange_program() {
	"$trailcam" run --source step -t table_grow --keep-recording "$tmp/strange" -o "$tmp/strange.fxt" -o "$tmp/s.txt" -o "$tmp/s.folded" -o "$tmp/s.csv" \
		-- "$tmp/names/$strange" >/dev/null 2>"$tmp/err"
	for what in sideband branches slices hits; do
		"$trailcam" dump --$what "$tmp/strange" >"$tmp/s.$what" && tame "$tmp/s.$what" || return 1
	done
	"$trailcam" report "$tmp/strange.fxt" >"$tmp/s.report" && says "$tmp/s.report" 'h\x1b[31mx\nforg' && says "$tmp/s.sideband" 'x\nforged ' &&
		says "$tmp/s.txt" "$shown" && says "$tmp/s.csv" 'h\x1b[31mx\nforg' && ! grep -q '^forged' "$tmp"/s.* || return 1
	for what in report txt folded csv; do
		tame "$tmp/s.$what" || return 1
	done
}
messages() {
	for line in "run -t main -- $tmp/names/none-$strange" "run -t $strange -- $programs/wordcount" "probes $tmp/names/$strange $strange" \
		"decode $tmp/names/$strange" "report $tmp/names/$strange" "run -o $tmp/names/no/$strange -- $programs/wordcount" \
		"attach --comm $strange" "run -t main --when $strange -- $programs/wordcount" "run -v -t main -o $tmp/v.fxt -- $tmp/names/$strange"; do
		# shellcheck disable=SC2086
		(IFS=' '; "$trailcam" $line) >/dev/null 2>"$tmp/err"
		tame "$tmp/err" && ! grep '^forged' "$tmp/err" || return 1
	done
}
# A symbol with such a name, and one that a spreadsheet would compute.
strange_symbols() {
	printf 'int first_one(void) { return 1; }\nint other_one(void) { return first_one(); }\nint main(void) { return other_one() - 1; }\n' >"$tmp/s.c"
	gcc -O0 -o "$tmp/symbols" "$tmp/s.c" && python3 -c '
import sys
bytes = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(bytes.replace(b"first_one", b"\x1b[31mx\nf\x9b").replace(b"other_one", b"=1+cmd|!0"))' "$tmp/symbols" && "$trailcam" probes "$tmp/symbols" >"$tmp/probes" && tame "$tmp/probes" && says "$tmp/probes" '\x1b[31mx\nf\x9b' &&
		"$trailcam" run --source step -o "$tmp/y.txt" -o "$tmp/y.csv" -o "$tmp/y.folded" -- "$tmp/symbols" 2>"$tmp/err" && tame "$tmp/y.txt" &&
		tame "$tmp/y.folded" && says "$tmp/y.txt" '\x1b[31mx\nf\x9b' && tame "$tmp/y.csv" && says "$tmp/y.csv" ",'=1+cmd|!0," && ! grep -qE '(^|,)"?[=@+-][^0-9,]' "$tmp/y.csv"
}
if bpf_missing; then
	skip 'a program whose name is made to deceive' "$bpf_reason"
else
	check 'a program whose name is made to deceive' strange_program
fi
check 'messages about it' messages
check 'symbols like that, and cells of spreadsheets' strange_symbols

# --- capabilities of the file: everything else is as its user has it

# A plain user; the shell between gives up what setpriv had.
as_user() {
	setpriv --reuid 65534 --regid 65534 --clear-groups env "$@"
}

# What a program gets from who starts it.
cat >"$tmp/heir.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(void)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");
	void *kept = malloc(10000);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "Cap", 3) || !strncmp(line, "Uid", 3) || !strncmp(line, "Gid", 3) || (!strncmp(line, "Sig", 3) && line[3] != 'Q') || !strncmp(line, "Groups", 6))
			fputs(line, stdout);
	for (char **variable = environ; *variable; variable++)
		puts(*variable);
	printf("euid %d\n", (int)geteuid());
	free(kept);
	return 0;
}
EOF

# Only /proc shows the handler of SIGTRAP that a stepped target has (SIGNALS in the manual).
inherits_the_same() {
	set -- env -i PATH="$PATH" TMPDIR="$tmp/user" LD_LIBRARY_PATH="$tmp/user" LOCPATH=/nonexistent GCONV_PATH=/nonexistent MALLOC_TRACE=x HOME=/ EMPTY= "$@"
	as_user "$@" "$tmp/heir" | sort >"$tmp/native"
	for how in 'run --source none -t main' 'run --source step --step-from main' 'run --source step -t main' 'memtrace record'; do
		# shellcheck disable=SC2086
		as_user "$@" "$tmp/capable" $how -o "$tmp/user/x.txt" -- "$tmp/heir" >"$tmp/out" 2>"$tmp/err" || {
			cat "$tmp/err"
			return 1
		}
		sed 's/^\(SigCgt:.0*\)10$/\100/' "$tmp/out" | sort | diff "$tmp/native" - || {
			echo "by $how"
			return 1
		}
	done
}

# A program of root's, with its setuid bit, by somebody else: it runs, as theirs.
setuid_is_dropped() {
	cp "$tmp/heir" "$tmp/setuid" && chmod 4755 "$tmp/setuid" && [ "$(as_user "$tmp/setuid" | grep -c 'euid 0')" = 1 ] || return 1
	for how in 'run --source none -t main' 'run --source step' 'memtrace record'; do
		# shellcheck disable=SC2086
		as_user "$tmp/capable" $how -o "$tmp/user/x.txt" -- "$tmp/setuid" >"$tmp/out" 2>"$tmp/err" || {
			cat "$tmp/err"
			return 1
		}
		says "$tmp/out" 'euid 65534' || return 1
		says "$tmp/err" 'runs without the rights that its file gives it' || return 1
	done
}

# Through a shell: memtrace records what comes of the process, too.
setuid_is_dropped_later() {
	as_user "$tmp/capable" memtrace record -o "$tmp/user/x.txt" -- /bin/sh -c "exec $tmp/setuid" >"$tmp/out" 2>"$tmp/err" && says "$tmp/out" 'euid 65534'
}

# Of a root process there is nothing to be had, whatever the file's capabilities.
others_are_refused() {
	"$programs/exits" wait >/dev/null 2>&1 <"$tmp/fifo" &
	other=$!
	exec 9<>"$tmp/fifo"
	for how in attach 'attach -t main' 'memtrace record'; do
		# shellcheck disable=SC2086
		as_user timeout 500 "$1" $how -p $other -o "$tmp/user/x.txt" >/dev/null 2>"$tmp/err"
		[ $? -eq 1 ] && says "$tmp/err" 'is not yours to trace' || return 1
	done
	exec 9>&-
	kill $other
}

# The file's rights are for probes: with those to read and write everything in it, too, no more can be read or
# written.
files_are_the_users() {
	mkdir -m 700 "$tmp/root" && cp "$programs/wordcount" "$tmp/root/" && echo kept >"$tmp/root/file" && ln -s "$tmp/root/file" "$tmp/user/link" &&
		cp "$tmp/m.ctf" "$tmp/root/" || return 1
	as_user "$tmp/mighty" run -o "$tmp/root/x.fxt" -- "$programs/wordcount" >/dev/null 2>"$tmp/err" && return 1
	as_user "$tmp/mighty" run --source step --step-log "$tmp/root/file" -o "$tmp/user/y.fxt" -- /bin/true >/dev/null 2>"$tmp/err" && return 1
	as_user "$tmp/mighty" run --source step --step-log "$tmp/user/link" -o "$tmp/user/link" -- /bin/true >/dev/null 2>"$tmp/err"
	[ "$(cat "$tmp/root/file")" = kept ] || return 1
	as_user "$tmp/mighty" probes "$tmp/root/wordcount" >/dev/null 2>"$tmp/err" && return 1
	as_user "$tmp/mighty" memtrace stats "$tmp/root/m.ctf" >/dev/null 2>"$tmp/err" && return 1
	as_user "$tmp/mighty" run --source none -t main -o "$tmp/user/z.fxt" -- "$tmp/heir" >/dev/null 2>"$tmp/err" || {
		cat "$tmp/err"
		return 1
	}
	grep -rlq kept "$tmp/root/file" && [ "$(find "$tmp/root" -type f | wc -l)" -eq 3 ]
}

ambient_stays_here() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +bpf,+perfmon,+net_raw --ambient-caps +bpf,+perfmon,+net_raw "$trailcam" "$@" \
		-o "$tmp/user/amb.txt" -- "$tmp/heir" >"$tmp/out" 2>"$tmp/err" && says "$tmp/out" 'CapAmb:	0000000000002000' && says "$tmp/out" 'CapEff:	0000000000002000' || {
		cat "$tmp/err" "$tmp/out"
		return 1
	}
}

setuid_is_refused() {
	cp "$trailcam" "$tmp/setuid-trailcam" && chmod 4755 "$tmp/setuid-trailcam" && as_user "$tmp/setuid-trailcam" --version >"$tmp/out" 2>&1
	[ $? -eq 125 ] && says "$tmp/out" 'must not be setuid'
}

if [ "$(id -u)" != 0 ] || bpf_missing; then
	skip 'with file capabilities' 'it takes root and BPF'
else
	chmod 755 "$tmp" && mkdir -m 777 "$tmp/user" && gcc -O0 -o "$tmp/heir" "$tmp/heir.c" && cp "$trailcam" "$tmp/capable" && cp "$trailcam" "$tmp/mighty" &&
		setcap cap_bpf,cap_perfmon=ep "$tmp/capable" &&
		setcap cap_bpf,cap_perfmon,cap_dac_override,cap_dac_read_search,cap_sys_ptrace,cap_chown,cap_fowner,cap_sys_admin=ep "$tmp/mighty"
	if as_user "$tmp/capable" --version >/dev/null 2>&1; then
		check 'file capabilities: the target has the rights and the environment of its user' inherits_the_same
		check 'file capabilities: a setuid program is recorded without its rights' setuid_is_dropped
		check 'file capabilities: and one that is executed later' setuid_is_dropped_later
		check 'file capabilities: no other user can be attached to' others_are_refused "$tmp/capable"
		check 'file capabilities: nor with CAP_SYS_PTRACE among them' others_are_refused "$tmp/mighty"
		check 'file capabilities: files are opened with the rights of the user' files_are_the_users
		check 'ambient capabilities: those for probes stay here' ambient_stays_here run --source none -t main
		check 'ambient capabilities: allocations' ambient_stays_here memtrace record
		check 'a setuid trailcam is refused' setuid_is_refused
	else
		skip 'with file capabilities' 'files have none here'
	fi
fi

finish
