#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The layering of user/README.md: a module includes itself and earlier rows, and certain headers belong to one module only.
set -u
bad=0

complain() {
	echo "$1"
	bad=1
}

row() {
	case $1 in
	base | preload) echo 0 ;;
	model) echo 1 ;;
	image | source) echo 2 ;;
	trigger | decode) echo 3 ;;
	stacks) echo 4 ;;
	recording | sinks) echo 5 ;;
	memtrace) echo 6 ;;
	pipeline | doctor) echo 7 ;;
	cli) echo 8 ;;
	*) echo 99 ;;
	esac
}

for file in user/*/*.[ch]; do
	module=$(basename "$(dirname "$file")")
	for included in $(sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$file" | sort -u); do
		[ "$included" = "$module" ] && continue
		[ "$included" = bpf ] && continue
		[ "$(row "$included")" -lt "$(row "$module")" ] ||
			complain "$file: $module must not include $included (user/README.md)"
	done
done

# only HEADER-PATTERN MODULE...: no other module includes such headers.
only() {
	pattern=$1
	shift
	for file in $(grep -lE "^#include <($pattern)" user/*/*.[ch]); do
		module=$(basename "$(dirname "$file")")
		case " $* " in
		*" $module "*) ;;
		*) complain "$file: only $* may include <$pattern>" ;;
		esac
	done
}
only 'intel-pt\.h' decode
only 'bpf/' trigger memtrace
only 'libelf|gelf|elfutils|dwarf' image
only 'zlib' sinks
only 'zstd' recording sinks
only 'sys/ptrace' source
only 'argp' cli

# qsort(3) must not be given the NULL of an array without items.
for file in $(grep -lE '\<qsort\(' user/*/*.[ch] | grep -v '^user/base/sort\.h$'); do
	complain "$file: sort_array() (base/sort.h) in place of qsort()"
done

# Each header compiles alone, but for those of BPF programs, which need the kernel's types.
for header in user/*/*.h $(find bpf -name '*.h' ! -name '*.bpf.h'); do
	echo "#include \"$header\"" | gcc -fsyntax-only -xc -std=gnu11 -D_GNU_SOURCE -I. -Iuser -Wall -Wextra - ||
		complain "$header does not compile alone"
done
exit $bad
