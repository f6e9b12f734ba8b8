#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# trailcam doctor tells what works, here and with less.
. tests/e2e/lib.sh

as_nobody() {
	caps=$1
	shift
	cp "$trailcam" "$tmp/trailcam" && chmod 755 "$tmp" "$tmp/trailcam"
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="-all$caps" --ambient-caps="-all$caps" --bounding-set="-all$caps" \
		"$tmp/trailcam" doctor "$@"
}

json() {
	"$trailcam" doctor --json >"$tmp/json"
	[ $? -le 1 ] && python3 - "$tmp/json" <<-'EOF'
		import json, sys
		found = {f["name"]: f for f in json.load(open(sys.argv[1]))}
		assert found["single-stepping"]["state"] == "works", found["single-stepping"]
		assert all(f["state"] in ("works", "fails", "note") and f["detail"] for f in found.values())
		assert len(found) > 15
	EOF
}
check '--json' json

without() {
	as_nobody '' >"$tmp/out"
	[ $? -eq 1 ] && grep -q '^works  single-stepping' "$tmp/out" && grep -q '^works  translation' "$tmp/out" && grep -q '^fails  trigger .*CAP_BPF and CAP_PERFMON, and both are missing' "$tmp/out" &&
		grep -q '^works  samples .*CAP_BPF and CAP_PERFMON .*would add' "$tmp/out" && says "$tmp/out" 'without a trigger, trailcam run -- PROGRAM does' &&
		grep -q ' CAP_BPF .*not held' "$tmp/out" && says "$tmp/out" '-> sudo setcap cap_bpf,cap_perfmon+ep' &&
		says "$tmp/out" '-> sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep' && says "$tmp/out" 'does not work here'
}
check 'without capabilities: what is missing, and the command' without

usage() {
	status_is 2 "$trailcam" doctor now 2>"$tmp/err" && says "$tmp/err" 'takes no arguments'
}
check 'wrong usage' usage

# The last line says by what source.
by_source() {
	"$trailcam" doctor >"$tmp/out"
	grep -q '^works  Intel PT' "$tmp/out" && {
		! tail -1 "$tmp/out" | grep -q 'stepping\|sampled'
		return
	}
	grep -q '^works  samples .*--source samples, which attach takes' "$tmp/out" && ! grep -q 'would add' "$tmp/out" &&
		grep -q '^works  translation ' "$tmp/out" && tail -1 "$tmp/out" | grep -q 'works here without Intel PT: run translates the program' || return 1
	unshare --pid --fork --mount-proc "$trailcam" doctor >"$tmp/out"
	grep -q '^works  samples ' "$tmp/out" && ! grep -q 'would add' "$tmp/out" && tail -1 "$tmp/out" | grep -q 'run translates the program'
}

if bpf_missing; then
	skip 'what works' "$bpf_reason"
	finish
fi
check 'by which source it works' by_source

# A terminal shows states in colours, unless NO_COLOR is set; a pipe has none.
colours() {
	escape=$(printf '\033')
	TERM=xterm NO_COLOR='' script -qec "$trailcam doctor" /dev/null >"$tmp/out" </dev/null
	grep -q "^$escape\[32mworks $escape\[0m " "$tmp/out" || return 1
	TERM=xterm NO_COLOR=1 script -qec "$trailcam doctor" /dev/null >"$tmp/out" </dev/null
	grep -q '^works  trigger ' "$tmp/out" && ! grep -q "$escape" "$tmp/out"
}
check 'states have colours on a terminal' colours

works() {
	# Containers that other tests run are mounted meanwhile.
	unshare --mount sh -c 'cat /proc/mounts >"$1/before" && "$0" doctor >"$1/out" && cmp "$1/before" /proc/mounts' "$trailcam" "$tmp" &&
		grep -q '^works  trigger ' "$tmp/out" && says "$tmp/out" 'main job works here' && [ -z "$(pgrep -P $$ -f 'trailcam doctor')" ]
}
check 'what works here' works

no_btf() {
	mkdir -p "$tmp/nothing"
	unshare --mount sh -c 'mount --bind "$1" /sys/kernel/btf && "$2" doctor' - "$tmp/nothing" "$trailcam" >"$tmp/out"
	grep -q '^works  samples .* BTF .*would add' "$tmp/out" && grep -q ' kernel BTF .*not there: samples show' "$tmp/out"
}
check 'without BTF: what samples do not show' no_btf

fzf_by_path() {
	mkdir -p "$tmp/bin" && printf '#!/bin/sh\n' >"$tmp/bin/fzf" && chmod +x "$tmp/bin/fzf" || return 1
	PATH=$tmp/bin "$trailcam" doctor >"$tmp/out"
	grep -q '^works  fzf ' "$tmp/out" || return 1
	PATH=$tmp/nothing "$trailcam" doctor >"$tmp/out"
	grep -q '^       fzf .*not there' "$tmp/out"
}
check 'fzf, as $PATH has it' fzf_by_path

enough() {
	as_nobody ',+bpf,+perfmon' >"$tmp/out" && grep -q '^works  trigger ' "$tmp/out" && grep -q '^fails  perf uprobe .*CAP_SYS_ADMIN' "$tmp/out"
}
check 'CAP_BPF and CAP_PERFMON are enough' enough

one_missing() {
	as_nobody ',+bpf' >"$tmp/out"
	[ $? -eq 1 ] && grep -q '^fails  trigger .*CAP_PERFMON is missing' "$tmp/out"
}
check 'the one that is missing is named' one_missing
finish
