#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What is given capabilities, or loaded into other programs, is hardened: position-independent, its tables
# read-only and bound before it runs, its stack not executable and guarded, string functions checked where
# sizes are known, no library path but $ORIGIN's. Usage: tests/lint/hardening.sh FILE...
set -u
bad=0

# has FILE WHAT TEXT PATTERN: TEXT has a line that matches.
has() {
	echo "$3" | grep -qE "$4" && return
	echo "$1: $2"
	bad=1
}

for file; do
	dynamic=$(readelf -dW "$file") && segments=$(readelf -hlW "$file") && symbols=$(readelf --dyn-syms -W "$file") || exit 1
	has "$file" 'not position-independent' "$segments" 'Type: +DYN'
	has "$file" 'no RELRO' "$segments" 'GNU_RELRO'
	has "$file" 'symbols are bound late (-z now)' "$dynamic" 'BIND_NOW|Flags:.* NOW'
	has "$file" 'its stack is executable' "$segments" 'GNU_STACK .* RW +0x'
	# A small library may have nothing to guard.
	case $file in
	*.so) ;;
	*)
		has "$file" 'no stack protector' "$symbols" ' UND __stack_chk_fail'
		has "$file" 'no _FORTIFY_SOURCE' "$symbols" ' UND __[a-z]+_chk'
		;;
	esac
	if echo "$segments" | grep -q ' RWE '; then
		echo "$file: a segment is both writable and executable"
		bad=1
	fi
	if echo "$dynamic" | grep -q 'TEXTREL'; then
		echo "$file: its code is relocated"
		bad=1
	fi
	if echo "$dynamic" | grep -E 'R(UN)?PATH' | grep -qvF "[\$ORIGIN/../lib/trailcam]"; then
		echo "$file: looks for libraries elsewhere"
		bad=1
	fi
done
exit $bad
