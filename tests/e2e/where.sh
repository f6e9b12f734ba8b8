#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every spelling of a trigger really hits; what cannot hit is refused, with its reason.
. tests/e2e/lib.sh
places=$programs/places

listed() {
	"$trailcam" probes "$places" 'parse_*' >"$tmp/list" && [ "$(cut -f 3 "$tmp/list" | tr '\n' ' ')" = 'parse_head parse_tail ' ] &&
		grep -q 'places.c:14$' "$tmp/list" || return 1
	"$trailcam" probes "$places" usdt: >"$tmp/list" && grep -q "	usdt	usdt:trailcam:snapshot	8@%rdi 8@%rsi$" "$tmp/list" || return 1
	status_is 1 "$trailcam" probes "$places" zork 2>"$tmp/err" && says "$tmp/err" "nothing in $places matches 'zork'" || return 1
	status_is 2 "$trailcam" probes 2>"$tmp/err" && "$trailcam" probes libc.so.6 malloc | grep -q '	malloc	'
}
check 'trailcam probes lists functions and USDT probes' listed

# refuses SPEC SENTENCE: before the program runs.
refuses() {
	"$trailcam" run --source none -t "$1" -o "$tmp/t.tsv" -- "$places" >"$tmp/out" 2>"$tmp/err" </dev/null
	[ $? -eq 125 ] && says "$tmp/err" "$2" && [ ! -s "$tmp/out" ]
}
check 'a line without code: which is next' refuses places.c:16 'the next line that has some is 17'
check 'a source file that is not in it' refuses plazes.c:14 "no source file 'plazes.c'"
check 'an offset inside an instruction' refuses parse_tail+1 'inside an instruction; the ones beside it begin at'
check 'an offset beyond the function' refuses parse_tail+4096 'beyond its end'
check 'an address without code' refuses places:0x10 'there is no code at 0x10'
check 'a pattern that matches nothing' refuses 'zork_*' "matches 'zork_*'"
check 'a USDT probe that is not there' refuses usdt:trailcam:zork 'no USDT probe trailcam:zork'
check 'a name that is near' refuses parse_hed 'did you mean parse_head'
check 'data is no function' refuses stdout "no function 'stdout'"
check 'the #Nth of fewer' refuses 'twin#2' 'has 1 function called twin'
picks_without_terminal() {
	setsid "$trailcam" run -t '?' -- "$places" 2>"$tmp/err"
	[ $? -eq 125 ] && says "$tmp/err" 'there is no terminal to pick'
}
check 'picking needs a terminal' picks_without_terminal

middle_return() {
	"$trailcam" run --source none -t parse_head+1 --slower-than 1ms -- "$places" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 125 ] && says "$tmp/err" 'in the middle of a function'
}
check 'the return of the middle of a function' middle_return

if bpf_missing; then
	skip 'hits by every spelling' "$bpf_reason"
	finish
fi

# On a terminal of its own (script(1)): the second of what "parse" filters.
picked_plainly() {
	mkdir -p "$tmp/path" && for tool in sh grep; do ln -sf "$(command -v $tool)" "$tmp/path/$tool"; done
	(sleep 1; echo parse; sleep 0.5; echo 2; sleep 1) | PATH=$tmp/path "$(command -v script)" -qec \
		"$trailcam run --source none -t '?' -o $tmp/t.tsv -- $places" "$tmp/typescript" >"$tmp/out" 2>&1
	says "$tmp/out" '2  parse_tail' && says "$tmp/out" 'hit parse_tail'
}
check '? without fzf: a plain filter' picked_plainly

# fzf's filter mode stands for somebody who types.
picked_with_fzf() {
	FZF_DEFAULT_OPTS='--filter=parse_head' script -qec "$trailcam run --source none -t 'places:?' -o $tmp/t.tsv -- $places" \
		"$tmp/typescript" >"$tmp/out" 2>&1 </dev/null
	says "$tmp/out" 'hit places:parse_head'
}
if command -v fzf >/dev/null; then
	check '? with fzf' picked_with_fzf
else
	skip '? with fzf' 'it is not installed'
fi

# hits SPEC PLACE...: the triggers' hits, in order, as the hit's own stack names them.
hits() {
	spec=$1
	shift
	rm -rf "$tmp/rec"
	"$trailcam" run --source none -t "$spec" --max-hits 99 --keep-recording "$tmp/rec" -o "$tmp/t.tsv" -- "$places" >"$tmp/out" \
		2>"$tmp/err" && says "$tmp/out" '9' && "$trailcam" dump --hits "$tmp/rec" >"$tmp/hits" || {
		cat "$tmp/err"
		return 1
	}
	echo "$*" >"$tmp/wanted"
	awk '$1 == "#0" { printf "%s%s", sep, $3; sep = " " } END { print "" }' "$tmp/hits" | diff "$tmp/wanted" -
}
address=$(nm "$places" | awk '$3 == "parse_tail" { print "0x" $1 }')
check 'SYM' hits parse_head parse_head+0x0
check 'BIN:SYM' hits places:parse_head parse_head+0x0
check 'SYM+OFF' hits parse_head+1 parse_head+0x1
check 'BIN:0xADDR' hits "places:$address" parse_tail+0x0
check 'FILE.c:LINE' hits places.c:8 twin+0x0
check 'a pattern' hits 'parse_*' 'parse_head+0x0 parse_tail+0x0'
check 'LIB:SYM@VERSION' hits libc.so.6:printf@@GLIBC_2.2.5 printf+0x0
check 'usdt:PROVIDER:NAME' hits usdt:trailcam:snapshot trailcam_snapshot_indicator+0x0
check '. is where the program marks its moments, once' hits . trailcam_snapshot_indicator+0x0

line_hits() {
	hits places.c:17 "$(sed -n 's/^  #0 0x[0-9a-f]* //p' "$tmp/hits" | head -1)" || true
	grep -q '#0 0x[0-9a-f]* parse_head+0x' "$tmp/hits" && ! grep -q 'parse_head+0x0$' "$tmp/hits"
}
check 'FILE.c:LINE in the middle of a function' line_hits

# Built as distributions build: endbr64 first, symbols apart.
variant() {
	gcc -I. -O1 -g -fcf-protection=full -fno-omit-frame-pointer -o "$tmp/v" tests/programs/places.c &&
		objcopy --only-keep-debug "$tmp/v" "$tmp/v.debug" && strip -o "$tmp/places" "$tmp/v" || return 1
	places=$tmp/places
	! hits parse_head '' 2>/dev/null >&2 && says "$tmp/err" 'stripped' || return 1
	objcopy --add-gnu-debuglink="$tmp/v.debug" "$tmp/places" && hits parse_head parse_head+0x4 && hits places.c:8 twin+0x0 &&
		grep -q '#1 0x[0-9a-f]* parse_head+' "$tmp/hits"
}
check 'stripped, with a debug file; endbr64 is passed over' variant

minidebug() {
	objcopy --strip-debug "$tmp/v" "$tmp/mini" && xz -kf "$tmp/mini" && strip -o "$tmp/places" "$tmp/v" &&
		objcopy --add-section .gnu_debugdata="$tmp/mini.xz" "$tmp/places" && places=$tmp/places hits parse_head parse_head+0x4
}
check 'stripped, with its local symbols compressed inside' minidebug

static_pie() {
	gcc -I. -O1 -g -static-pie -fno-omit-frame-pointer -o "$tmp/places" tests/programs/places.c &&
		places=$tmp/places hits parse_head parse_head+0x0
}
check 'static PIE' static_pie

# magic-trace's own indicator, beside ours.
both_marks() {
	places=$programs/marks
	rm -rf "$tmp/rec"
	"$trailcam" run --source none -t . --max-hits 99 --keep-recording "$tmp/rec" -o "$tmp/t.tsv" -- "$places" >"$tmp/out" 2>"$tmp/err" &&
		"$trailcam" dump --hits "$tmp/rec" | awk '$1 == "arg1" { printf "%s ", $2 }' >"$tmp/args" && says "$tmp/args" '0x2a 0x2b 0x59 '
}
check "magic-trace's indicator" both_marks

# Every function of a large library in one link, and none of them is called.
many() {
	lib=$(ldconfig -p | awk '/libLLVM|libcrypto|libpython/ { print $NF; exit }')
	[ -n "$lib" ] || lib=libc.so.6
	cnt=$("$trailcam" probes "$lib" | grep -c '	function	')
	"$trailcam" run --source none -t "$lib:*" -o "$tmp/t.tsv" -- "$programs/places" >"$tmp/out" 2>"$tmp/err" || return 1
	says "$tmp/out" 9 && [ "$cnt" -gt 500 ]
}
check 'a pattern for a whole library' many
finish
