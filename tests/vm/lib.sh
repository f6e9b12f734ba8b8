# SPDX-License-Identifier: BSD-2-Clause
# For tests of the intel_pt source on the kernel's own driver, which drives a software processor in a
# virtual machine: `. tests/vm/lib.sh`.
# What is decoded is judged by the log of what that processor executed, and by perf.
. tests/e2e/lib.sh

vm=build/vm
out=$tmp/vm
exec 9>&1 # where tests/vm/boot.sh says how far it is
oracle=$PWD/$BUILD/tests/oracle/calls

# What a test machine must have, or the reason why it is skipped. A module that does not build is a failure.
vm_missing() {
	for command in qemu-system-x86_64 gcc-12 busybox; do
		command -v $command >/dev/null || {
			reason="$command is not installed"
			return 0
		}
	done
	reason=$(tests/vm/kernel.sh "$1" "$vm/$1" 2>&1)
	case $? in
	0) return 1 ;;
	2) check "the software processor builds for Linux $1: $reason" false && finish ;;
	esac
	[ -n "$reason" ] || reason="tests/vm/kernel.sh $1 fails"
}

# boot_vm KERNEL SCRIPT FILE...: leaves $out, and says meanwhile what the machine is at, since it takes long.
boot_vm() {
	kernel=$1 script=$2
	shift 2
	tests/vm/boot.sh "$vm/$kernel" "tests/vm/$script" "$out" "$trailcam" "$programs/wordcount" "$programs/wordcount-static" "$programs/torture" "$@" >"$tmp/boot" 2>&1 &&
		[ ! -s "$out/dmesg" ] || {
		tail -n 15 "$tmp/boot" "$out/console" "$out/dmesg"
		return 1
	}
}

# boot KERNEL [CAPTURE,CAPTURE...]: makes these captures there, or all
boot() {
	VM_CAPTURES=${2:-} boot_vm "$1" captures "$programs/server" "$programs/jit" "$(command -v perl)" "$(command -v setpriv)"
}

by_thread() {
	sort -s -n -k1,1
}

# A probed instruction that is executed in the kernel's slots is known by its beginning and its end only.
no_slots() {
	grep -v ' 7fffffffe'
}

# The instructions decoded: all that were executed and not lost.
exact() {
	grep -v lost "$out/$1.log" | cut -d' ' -f1,2 | no_slots | by_thread >"$tmp/truth"
	[ "$(wc -l <"$tmp/truth")" -gt "$2" ] || {
		echo "only $(wc -l <"$tmp/truth") instructions"
		cat "$out/$1.err"
		return 1
	}
	"$trailcam" dump --instructions "$out/$1" | grep -v gap | no_slots | by_thread >"$tmp/decoded"
	cmp "$tmp/decoded" "$tmp/truth" || {
		diff "$tmp/decoded" "$tmp/truth" | head -n 8
		gaps "$1"
		return 1
	}
}

# The last of them, more than MINIMUM.
exact_end() {
	cut -d' ' -f1,2 "$out/$1.log" >"$tmp/truth"
	"$trailcam" dump --instructions "$out/$1" >"$tmp/decoded"
	cnt=$(wc -l <"$tmp/decoded")
	[ "$cnt" -gt "$2" ] && [ "$cnt" -lt "$(wc -l <"$tmp/truth")" ] && tail -n "$cnt" "$tmp/truth" | cmp - "$tmp/decoded"
}

perf_agrees() {
	"$trailcam" dump --instructions "$out/$1" | grep -v gap | by_thread >"$tmp/decoded"
	perf script -f -i "$out/$1" --itrace=i1i -F tid,ip --ns 2>"$tmp/perf.err" | awk '{ print $1, $2 }' | by_thread |
		cmp - "$tmp/decoded" || {
		cat "$tmp/perf.err"
		return 1
	}
}

# Where something is missing, and what was said while it was recorded.
gaps() {
	"$trailcam" dump --slices "$out/$1" | grep '\[gap' | head -n 8
	tail -n 8 "$out/$1.err"
}

gap_cnt() {
	"$trailcam" dump --slices "$out/$1" | grep -c '\[gap'
}

no_gap() {
	[ -s "$out/$1" ] && [ "$(gap_cnt "$1")" = 0 ] || {
		gaps "$1"
		return 1
	}
}

# Every call is what the stack pointers of the log say.
true_calls() {
	no_slots <"$out/$1.log" >"$tmp/log" && "$oracle" "$out/$1" "$tmp/log"
}

# The trace ends where the probed instruction was hit last: behind it the thread may only have been let in and
# out again.
ends_at_hit() {
	ip=$("$trailcam" dump --hits "$out/$1" | awk '$1 == "rip" { print substr($2, 3); exit }')
	"$trailcam" dump --branches "$out/$1" | sort -s -n -k1,1 | awk -F'\t' -v ip="$ip" '
		$3 == "interrupt+end" && $4 == ip { hit = 1; cnt = 0; next }
		$3 == "none+start" { at = $5; next }
		$3 != "interrupt+end" || $4 != at { bad[cnt++] = $0 }
		END {
			for (i = 0; i < cnt; i++)
				print bad[i]
			exit cnt || !hit
		}'
}

# A way through the kernel: no gap, and no instruction left out.
kernel_walk() {
	"$BUILD/tests/oracle/kernel_walk" "$1" "$tmp/walk" && "$trailcam" dump --instructions "$tmp/walk" | grep -v gap | cmp - "$tmp/walk.log" || return 1
	[ "$(wc -l <"$tmp/walk.log")" -gt 100000 ] && "$trailcam" dump --slices "$tmp/walk" >"$tmp/walk.slices" && ! grep '\[gap' "$tmp/walk.slices"
}

# true_samples NAME: stack samples by BPF: whole stacks, and who woke whom.
true_samples() {
	says "$out/$1.err" 'exit status 0' && ! grep 'samples by perf' "$out/$1.err" || return 1
	"$trailcam" dump --slices "$out/$1" | awk -F'\t' '{ split($4, name, " "); open[$3] = name[1] }
		$4 ~ /^Perl_pp_/ { cnt++; if (open[0] != "_start" || open[3] != "main" || open[4] != "perl_run") { print; bad++ } }
		END { print cnt + 0, "calls,", bad + 0, "elsewhere"; exit cnt < 50 || bad * 20 > cnt }' || return 1
	"$trailcam" report --wide "$out/$1" >"$tmp/report" && grep -q 'off-cpu\] read of pipe [0-9]* in read, woken by perl ' "$tmp/report" &&
		grep -q 'off-cpu\] pselect6 in select, woken by a timer' "$tmp/report" && grep -q '\[irq\] clock' "$tmp/report"
}
