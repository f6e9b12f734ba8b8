#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Writes vmlinux/ARCH/vmlinux.h anew: the kernel types that bpf/ needs, and what they depend on, out of a kernel's BTF. Only
# types that are the same in every kernel belong in the list (user ABI), so that no build depends on the kernel it runs on.
# To be run by hand when a BPF program needs another type.
# Usage: vmlinux/generate.sh [BTF-FILE]
set -eu
cd "$(dirname "$0")"
btf=${1:-/sys/kernel/btf/vmlinux}
arch=$(uname -m)
bpftool=$(command -v bpftool || echo /usr/sbin/bpftool)

# By name: "struct X", "enum X" or a typedef; an enum without a name by one of its values.
wanted='
struct pt_regs
struct bpf_pidns_info
enum bpf_map_type
BPF_RB_FORCE_WAKEUP
BPF_F_USER_STACK
BPF_ANY BPF_RB_AVAIL_DATA BPF_F_NO_PREALLOC BPF_LOCAL_STORAGE_GET_F_CREATE bool
__u8 __s8 __u16 __s16 __u32 __s32 __u64 __s64
__be16 __be32 __wsum
'

mkdir -p "$arch"
dump=$(mktemp)
trap 'rm -f "$dump"' EXIT
"$bpftool" btf dump file "$btf" format c >"$dump"
awk -v wanted="$wanted" '
	# A type is a paragraph.
	BEGIN { RS = "" }

	# struct pt_regs is 21 words for user space; newer kernels name parts of some by unions, which become words again.
	function fold_unions(text,	lines, cnt, i, depth, out, name) {
		cnt = split(text, lines, "\n")
		for (i = 1; i <= cnt; i++) {
			if (lines[i] ~ /^\tunion \{/) {
				depth = 1
				name = ""
			} else if (depth && lines[i] ~ /^\t\}/) {
				depth = 0
				out = out "\tlong unsigned int " name "\n"
			} else if (depth) {
				if (name == "") { name = lines[i]; sub(/^.* /, "", name) }
			} else {
				out = out lines[i] (i < cnt ? "\n" : "")
			}
		}
		return out
	}

	/^(struct|union|enum) [a-zA-Z0-9_]+ \{/ { block[NR] = $0; at[$1 " " $2] = NR; next }
	/^typedef / { block[NR] = $0; name = $NF; sub(/;.*/, "", name); at[name] = NR; next }
	/^enum \{/ {
		block[NR] = $0
		cnt = split($0, words, /[^A-Za-z0-9_]+/)
		for (i = 2; i <= cnt; i++) if (words[i] ~ /^[A-Z_]/) at[words[i]] = NR
	}

	function pick(name,	n, cnt, words, i) {
		n = at[name]
		if (!n || picked[n]) return
		picked[n] = 1
		if (name == "struct pt_regs") block[n] = fold_unions(block[n])
		cnt = split(block[n], words, /[^A-Za-z0-9_]+/)
		for (i = 1; i <= cnt; i++) {
			if (words[i] ~ /^(struct|union|enum)$/) pick(words[i] " " words[i + 1])
			else if (block[n] !~ /^enum/ && words[i] != name) pick(words[i])
		}
	}

	END {
		gsub(/struct /, "struct#", wanted)
		gsub(/enum /, "enum#", wanted)
		cnt = split(wanted, names, /[ \n]+/)
		for (i = 1; i <= cnt; i++) {
			if (names[i] == "") continue
			sub(/#/, " ", names[i])
			if (!at[names[i]]) { print "no type " names[i] >"/dev/stderr"; exit 1 }
			pick(names[i])
		}
		print "/* SPDX-License-Identifier: BSD-2-Clause */"
		print "/* Kernel types for bpf/, as vmlinux/generate.sh wrote them. All are user ABI: no CO-RE relocation is wanted. */"
		print "#ifndef __VMLINUX_H__ /* bpf/bpf_tracing.h asks for this name */"
		print "#define __VMLINUX_H__\n"
		for (n = 1; n <= NR; n++)
			if (picked[n]) print block[n] "\n"
		print "#endif"
	}
' "$dump" >"$arch/vmlinux.h.new"
mv "$arch/vmlinux.h.new" "$arch/vmlinux.h"
