#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The layering of user/README.md: a module includes itself and earlier rows, and certain headers belong to one
# module only.
set -u
bad=0

complain() {
	echo "$1"
	bad=1
}

row() {
	awk -F '[|`]' -v module="$1" '/^\| [0-9]+ \| `/ && $4 == module { print $2 + 0; found = 1 } END { if (!found) print 99 }' user/README.md
}

files=$(find user -name '*.[ch]' ! -path 'user/preload/*' ! -path 'user/translate/*')
for directory in $(dirname $files | sort -u); do
	module=${directory#user/}
	own=$(row "$module")
	[ "$own" = 99 ] && [ "$module" != user ] && complain "$directory: not in the table of user/README.md"
	for included in $(sed -n 's/^#include "\([a-z0-9_/]*\)\/[^/]*".*/\1/p' "$directory"/*.[ch] | sort -u); do
		[ "$included" = "$module" ] || [ "$included" = bpf ] || [ "$included" = translate ] || [ "$(row "$included")" -lt "$own" ] ||
			complain "$directory must not include $included/ (user/README.md): $(grep -l "^#include \"$included/[^/]*\"" "$directory"/*.[ch])"
	done
done

for module in $(awk -F '[|`]' '/^\| [0-9]+ \| `/ { print $4 }' user/README.md); do
	[ -d "user/$module" ] || complain "user/README.md: there is no module $module"
done

# Small rooms, so that a folder's name says what is in it.
for directory in $(find user bpf -type d); do
	cnt=$(find "$directory" -maxdepth 1 -name '*.[ch]' | wc -l)
	[ "$cnt" -le 30 ] || complain "$directory holds $cnt files; the limit is 30: move what belongs together to a folder of its own"
done

# Small files, too.
for file in $(find user bpf -name '*.[ch]'); do
	lines=$(wc -l <"$file")
	[ "$lines" -le 500 ] || complain "$file has $lines lines; the limit is 500: split it at a seam"
done

# only HEADER-PATTERN MODULE...: no other module includes such headers.
only() {
	pattern=$1
	shift
	for file in $(grep -lE "^#include <($pattern)" $files); do
		module=$(dirname "${file#user/}")
		case " $* " in
		*" $module "*) ;;
		*) complain "$file: only $* may include <$pattern>" ;;
		esac
	done
}
only 'intel-pt\.h' decode decode/libipt
only 'bpf/' trigger source/alloc source/samples
only 'libelf|gelf|elfutils|dwarf' elf elf/types image
only 'zlib' output/bytes input
only 'zstd' recording output/bytes stacks/lists
only 'sys/ptrace' process session source/step source/translate
only 'argp' cli cli/capture cli/show cli/memtrace

for file in $(grep -l '^#include "bpf/hit\.h"' $files | grep -v '^user/trigger/'); do
	complain "$file: bpf/hit.h is known to user/trigger alone; the others use model/hit.h"
done

# Terms of one processor belong to user/arch, and to what knows its instructions (user/arch/arch.h).
for file in $files; do
	case $file in
	user/arch/* | user/decode/* | user/probe/* | user/source/pt/* | user/source/step/* | user/source/translate/*) continue ;;
	user/process/inject.? | user/source/tsc.c | user/source/alloc/probe_cost.c | user/trailcam.h) continue ;;
	esac
	gcc -fpreprocessed -dD -E -P "$file" 2>/dev/null |
		grep -qE '\b(r[abcd]x|r[sd]i|r[sbi]p|r8|r9|r1[0-5]|eflags|orig_rax|[fg]s_base)\b|HIT_R([A-D]X|[SD]I|[SBI]P|[0-9])|X86_64|endbr' &&
		complain "$file: what is of one processor only stands in user/arch"
done

# qsort(3) must not be given the NULL of an array without items.
for file in $(grep -lE '\<qsort\(' $files | grep -v '^user/base/sort\.h$'); do
	complain "$file: sort_array() (base/sort.h) in place of qsort()"
done

# Each header compiles alone, but for those of BPF programs, which need the kernel's types.
for header in $(find user -name '*.h') $(find bpf -name '*.h' ! -name '*.bpf.h'); do
	echo "#include \"$header\"" | gcc -fsyntax-only -xc -std=gnu11 -D_GNU_SOURCE -I. -Iuser -Wall -Wextra - ||
		complain "$header does not compile alone"
done
exit $bad
