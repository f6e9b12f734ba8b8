#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a shell offers at the cursor.
. tests/e2e/lib.sh
wordcount=$programs/wordcount

# offers CURSOR "WORD..." ARG...: what is offered at that word of the line, sorted
offers() {
	cursor=$1 wanted=$2
	shift 2
	"$trailcam" __complete "$cursor" trailcam "$@" 2>"$tmp/err" >"$tmp/out" || return 1
	[ ! -s "$tmp/err" ] && [ "$(cut -f1 "$tmp/out" | sort -u | paste -sd ' ')" = "$wanted" ] || {
		cat "$tmp/err" "$tmp/out"
		return 1
	}
}

check 'commands' offers 1 'decode doctor dump' d
check 'options' offers 2 '--skip --slower-than --snapshot-size --source --spin --split --step-from --step-log --step-overflow --syscalls' run --s
check 'options of another command' offers 2 '--json' doctor --j
check 'choices, as --help has them' offers 3 'auto intel_pt none samples step translate' run --source ''
check 'choices behind "="' offers 2 '--source=step' run --source=st -- true
check 'choices behind "=", as bash has it' offers 4 '--source=step' run --source = st
check 'choices with more behind them' offers 2 '--timer-resolution=custom:' run --timer-resolution=c
check 'formats' offers 3 'folded folded-total fxt' decode --format f
meanings() {
	"$trailcam" __complete 2 trailcam decode -- >"$tmp/out" && ! grep -q '(null)' "$tmp/out"
}
check 'every option, with a meaning or without' meanings
check 'functions of the program behind the cursor' offers 3 'table_add table_find table_grow' run -t table_ -- "$wordcount"
check 'functions, glued to the option' offers 2 '-ttable_add' run -ttable_a "$wordcount"
check 'functions of a library' offers 6 'libc.so.6:calloc' run -v -t libc.so.6 : callo -- "$wordcount"
check 'functions in C++' offers 3 'shop::total' run --step-from shop::t "$programs/throws"
check 'functions of a file' offers 3 'table_grow' probes "$wordcount" table_g
check 'signals, the last of several' offers 3 'SIGSEGV,SIGABRT SIGSEGV,SIGALRM' run --on-signal SIGSEGV,SIGA
check 'events, the last of several' offers 3 'page-faults,branch-misses page-faults,branches' run --events page-faults,br
check 'programs' offers 4 ':program' run -v -- ''
check "the program's own words are file names" offers 4 '' run -- ls --
check 'file names' offers 2 '' decode ''
check 'no such program: nothing' offers 3 '' run -t ma -- ./no/such/program
check 'commands of a command' offers 2 'dump' memtrace du
check 'their options' offers 3 '--max-lifetime --max-size' memtrace stats --max
check 'their choices' offers 4 'function line path' memtrace hotspots --by ''
check 'their choices behind "="' offers 3 '--source=major --source=minor' memtrace dump --source=m -- app.ctf
check 'nothing of a command that is none' offers 3 '' memtrace frobnicate --m
check 'no such command: nothing' offers 2 '' frobnicate ''
check 'a cursor that is nowhere: nothing' offers 17 '' run ls

server_is_offered() {
	"$trailcam" __complete 3 trailcam attach -p "" >"$tmp/out" && grep -q "^$server	.*server" "$tmp/out" &&
		offers 5 'handle handle_in_thread' attach -p "$server" -t handl && offers 3 "1,$server" attach -p "1,$server"
}
mkfifo "$tmp/fifo"
"$programs/server" <>"$tmp/fifo" >/dev/null 2>&1 &
server=$!
check 'processes, and the functions of one' server_is_offered
kill $server

# --- the shells' scripts

ln -s "$trailcam" "$tmp/trailcam"
PATH=$tmp:$PATH
scripts=$PWD/docs/package

in_bash() {
	# shellcheck disable=SC2016
	bash -uc 'source "$1"; COMP_LINE="trailcam run -t libc.so.6:callo"; COMP_POINT=${#COMP_LINE}
		COMP_WORDS=(trailcam run -t libc.so.6 : callo -- "$2"); COMP_CWORD=5; _trailcam trailcam; echo "${COMPREPLY[@]}"
		COMP_LINE="trailcam run $2"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(trailcam run "$2"); COMP_CWORD=2; _trailcam trailcam
		echo "${COMPREPLY[@]}"; complete -p trailcam' bash "$scripts/completion.bash" "$programs/torture" >"$tmp/out" 2>"$tmp/err"
	[ ! -s "$tmp/err" ] && [ "$(sed -n 1,2p "$tmp/out" | paste -sd ' ')" = "calloc $programs/torture" ] && says "$tmp/out" '-F _trailcam trailcam'
}
check 'bash' in_bash

# The functions of zsh's completion system that the script calls say here what they were called with.
in_zsh() {
	# shellcheck disable=SC2016
	zsh -fuc '_describe() { print -r -- $1 "${(@P)2}"; }; _files() { print files; }; _alternative() { print program; }
		complete_it() { source $script }; script=$1
		words=(trailcam run -t shop::t -- $2); CURRENT=4; complete_it
		words=(trailcam decode --decoder ""); complete_it
		words=(trailcam run --keep-recording ""); complete_it
		words=(trailcam run -v ""); complete_it' zsh "$scripts/completion.zsh" "$programs/throws" >"$tmp/out" 2>&1
	sed 's/:[^:\\]*throws.cc.*//' "$tmp/out" | paste -sd ' ' >"$tmp/line"
	says "$tmp/line" 'trailcam shop\:\:total trailcam fast: reference: files program'
}

in_fish() {
	# shellcheck disable=SC2016
	HOME=$tmp fish -c 'source $argv[1]; complete -C "trailcam run --source s"; complete -C "trailcam decode LICEN"
		complete -C "trailcam run $argv[2]"; complete -C "trailcam do"' "$scripts/completion.fish" "$programs/torture" >"$tmp/out" 2>&1
	[ "$(cut -f1 "$tmp/out" | paste -sd ' ')" = "samples step LICENSE $programs/torture doctor" ]
}

for shell in zsh fish; do
	if command -v $shell >/dev/null; then
		check "$shell" in_$shell
	else
		skip "$shell" 'it is not installed'
	fi
done
finish
