#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Pages end their lines of prose at column 110 at most, and so do comments, with tabs of 8. The files that pages
# and comments name exist, and links lead somewhere. docs/how-it-works.md speaks of each source and each input,
# the manual of each format, and the glossary of no module that does not exist.
set -u
bad=0

complain() {
	echo "$1"
	bad=1
}

pages=$(git ls-files '*.md')
code=$(git ls-files 'user/*.[ch]' 'user/*.S' 'bpf/*.[ch]' 'tests/*.[ch]')

# Tables and code may be wider.
# shellcheck disable=SC2086 # a list of words
long=$(awk 'FNR == 1 { fenced = 0 } /^ *```/ { fenced = !fenced } !fenced && !/^ *\|/ && !/^    / && length($0) > 110 { print FILENAME ":" FNR }' $pages)
[ -z "$long" ] || complain "prose beyond column 110:
$long"

# shellcheck disable=SC2046 # a list of words
long=$(awk '{ column = 0
		for (i = 1; i <= length($0); i++)
			column = substr($0, i, 1) == "\t" ? column - column % 8 + 8 : column + 1 }
	column > 110 && (/^[ \t]*(\/\*|\*|\/\/)/ || /\/\*/) { print FILENAME ":" FNR }' $code $(git ls-files 'tests/*.S' 'tests/*.cc'))
[ -z "$long" ] || complain "comments beyond column 110:
$long"

# A name with a folder in front: below user/, or from the top.
names=$(grep -noHE '(^|[ (`])[a-z0-9_]+(/[a-z0-9_]+)*/[a-z0-9_.]+\.(c|h|S|sh|md|1)\b' $pages $code | sed 's/[ (`]*//g')
for name in $names; do
	file=${name%%:*} path=${name##*:}
	case $path in
	arch/x86/*) continue ;; # the kernel's
	tests/* | user/* | bpf/* | docs/* | vmlinux/*) set -- "$path" ;;
	*) set -- "$path" "user/$path" "docs/$path" "$(dirname "$file")/$path" ;;
	esac
	for at; do [ -e "$at" ] && continue 2; done
	module=${path%%/*}
	[ -d "user/$module" ] || [ -d "$module" ] || continue # another project's
	complain "$name: there is no such file"
done

# Links between pages.
for link in $(grep -noHE '\]\([^)#: ]+' $pages | sed 's/](//'); do
	file=${link%%:*} to=${link##*:}
	[ "$to" = https ] && continue
	[ -e "$(dirname "$file")/$to" ] || complain "$link: the link leads nowhere"
done
# names_of TYPE: the names in the rows of a table, one a line.
names_of() {
	# shellcheck disable=SC2046 # a list of words
	sed -n "/^const struct $1 [a-z_]* = /,/;/s/.*\.name = \"\([^\"]*\)\".*/\1/p" $(git ls-files 'user/*.c')
}

# speaks_of PAGE TYPE
speaks_of() {
	names_of "$2" >"$names_file"
	[ -s "$names_file" ] || complain "no $2 found"
	while read -r name; do
		sed 's/\\-/-/g' "$1" | grep -qF "$name" || complain "$1 does not speak of the $2 '$name'"
	done <"$names_file"
}
names_file=$(mktemp)
trap 'rm -f "$names_file"' EXIT
speaks_of docs/how-it-works.md source
speaks_of docs/how-it-works.md input
speaks_of docs/trailcam.1 sink

for module in $(sed -n 's/^## .*(\(.*\))$/\1/p' docs/glossary.md | tr -d '`,'); do
	[ -d "user/$module" ] || [ -d "$module" ] || complain "docs/glossary.md: there is no module $module"
done
exit $bad
