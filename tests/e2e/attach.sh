#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# trailcam attach: what runs already is traced from where it is, behaves as if nothing was, and runs on
# afterwards.
. tests/e2e/lib.sh
ours=
trap 'kill_ours $ours; wait 2>/dev/null; rmdir ${group:+"$group"/docker-* "$group"} 2>/dev/null; rm -rf "$tmp"' EXIT

# start NAME [COMMAND...]: a server that waits for commands (say NAME COMMAND...); $target
start() {
	name=$1
	shift
	rm -f "$tmp/$name".*
	mkfifo "$tmp/$name.in"
	# Held open by nobody but itself, so that its end is its own.
	"${@:-$programs/server}" <>"$tmp/$name.in" >"$tmp/$name.out" &
	target=$!
	ours="$ours $target"
	wait_for "$tmp/$name.out" ready
}

say() {
	name=$1
	shift
	printf '%s\n' "$@" >"$tmp/$name.in"
}

# attach ARG...: in the background; $tracer. Comes back when it records, or waits for a start point.
attach() {
	: >"$tmp/err" # what the last one said is not what is waited for
	# What a script starts in the background ignores SIGINT otherwise.
	env --default-signal=INT "$trailcam" attach -v --source step --max-stall none -o "$tmp/t.tsv" "$@" >"$tmp/err" 2>&1 &
	tracer=$!
	ours="$ours $tracer"
	case $* in
	*--step-from*) wait_for "$tmp/err" 'debug: attached' ;;
	*) wait_for "$tmp/err" 'the recording begins' ;;
	esac
}

# state PID: its letter in /proc
state() {
	awk '$1 == "State:" { print $2 }' "/proc/$1/status"
}

ends_with() {
	wait "$2"
	status=$?
	[ $status -eq "$1" ] || {
		echo "exit status $status, not $1"
		cat "$tmp/err"
		return 1
	}
}

everything='work thread fork exec vfork dlopen alarm become work thread quit'

same_output() {
	start free || return 1
	say free $everything
	wait $target
	free=$?
	start watched || return 1
	attach -p $target "$@" || return 1
	say watched $everything
	ends_with $free $target && ends_with 0 $tracer && says "$tmp/err" "the target ended (exit status $free)" &&
		diff "$tmp/free.out" "$tmp/watched.out"
}
check 'signals, timers, forks, threads, dlopen, exec: the same output' same_output
has_children_not() {
	[ "$(cut -f5 "$tmp/t.tsv" | sort -u | grep '[0-9]')" = $target ]
}
check 'children are not traced' has_children_not
check '--follow-forks: the same output' same_output --follow-forks
has_children() {
	[ "$(cut -f5 "$tmp/t.tsv" | sort -u | grep -c '[0-9]')" -ge 4 ] &&
		cut -f4,5 "$tmp/t.tsv" | grep '^handle	' | grep -qv "	$target$"
}
check '--follow-forks: children have tracks of their own' has_children

sleepers() {
	start s || return 1
	attach -p $target || return 1
	sleep 0.3
	kill -INT $tracer
	ends_with 0 $tracer && says "$tmp/err" 'interrupted' && untraced $target || return 1
	say s mask work quit
	ends_with 9 $target && says "$tmp/s.out" 'interrupted 0' && says "$tmp/s.out" "processors $(nproc)"
}
check 'Ctrl-C: a trace; sleeping threads never notice, the target runs on' sleepers

killed() {
	start k || return 1
	attach -p $target || return 1
	say k work
	wait_for "$tmp/k.out" work || return 1
	kill -9 $tracer
	wait_until untraced $target || return 1
	say k thread mask quit
	ends_with 9 $target && says "$tmp/k.out" 'interrupted 0' && says "$tmp/k.out" "processors $(nproc)"
}
check 'kill -9 of trailcam: the target runs on' killed

several() {
	start a && a=$target && start b && b=$target && attach -p $a,$b || return 1
	say a work quit
	ends_with 9 $a || return 1
	say b work quit
	ends_with 9 $b && ends_with 0 $tracer && says "$tmp/err" 'the last target ended' || return 1
	for pid in $a $b; do
		cut -f4,5 "$tmp/t.tsv" | grep -q "^handle	$pid$" || return 1
	done
}
check 'several processes at once' several

stopped() {
	start z || return 1
	kill -STOP $target
	attach -p $target || return 1
	say z work
	sleep 0.3
	[ "$(state $target)" = t ] || [ "$(state $target)" = T ] || return 1
	! grep -q work "$tmp/z.out" || return 1
	kill -CONT $target
	wait_for "$tmp/z.out" work || return 1
	kill -INT $tracer
	ends_with 0 $tracer && untraced $target || return 1
	say z quit
	ends_with 9 $target
}
check 'a target stopped by job control stays so until SIGCONT' stopped

# --- who is meant

by_name() {
	cp "$programs/server" "$tmp/odd-$$"
	start n "$tmp/odd-$$" && attach --comm odd-$$ || return 1
	say n work quit
	ends_with 9 $target && ends_with 0 $tracer && says "$tmp/t.tsv" handle
}
check '--comm' by_name

# The id as Docker would have it, in whichever hierarchy can be written.
make_cgroup() {
	id=$(printf '%-64d' $$ | tr ' ' 0)
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/pids; do
		[ -e "$root/cgroup.procs" ] && mkdir -p "$root/trailcam-test-$$/docker-$id.scope" 2>/dev/null &&
			group=$root/trailcam-test-$$ && break
	done
	[ -n "${group:-}" ]
}
in_cgroup() {
	start g || return 1
	echo $target >"$group/docker-$id.scope/cgroup.procs" && attach "$@" || return 1
	say g work quit
	ends_with 9 $target && ends_with 0 $tracer && says "$tmp/t.tsv" handle
}
refused() {
	status=$1 text=$2
	shift 2
	status_is "$status" "$trailcam" attach -o "$tmp/r.tsv" "$@" 2>"$tmp/err" </dev/null && says "$tmp/err" "$text" &&
		[ "$(wc -l <"$tmp/err")" -eq 1 ] || [ "$status" -eq 2 ]
}
if make_cgroup; then
	check '--cgroup, with the groups below' in_cgroup --cgroup "/trailcam-test-$$"
	check '--cgroup as a directory' in_cgroup --cgroup "$group/"
	check '--container by the beginning of its id' in_cgroup --container "$(printf '%.60s' "$id")"
	check 'a group without processes' refused 1 'no process is in the control group' --cgroup "/trailcam-test-$$"
	rmdir "$group/docker-$id.scope" "$group"
else
	skip 'control groups' 'no hierarchy can be written here'
fi

# --- refusals, one sentence each

sleep 0 &
gone=$!
wait $gone
check 'no such process' refused 1 "there is no process $gone" -p $gone
check 'no process of that name' refused 1 "no process is named 'no-such-name'" --comm no-such-name
check 'no such control group' refused 1 "there is no control group '/no/such'" --cgroup /no/such
check 'no such container' refused 1 "begins with 'feedfacefeedface'" --container feedfacefeedface
check 'not a number' refused 2 "'12x' is not a process number" -p 12x
check 'nobody' refused 2 'no process to attach to'
check 'no terminal to pick at' refused 1 'no terminal to pick a process at: name it' '?'

kernel_thread() {
	# One that is there for good: the first one may be a worker that is about to end.
	thread=$(grep -ls '^Name:	ksoftirqd/' /proc/[0-9]*/status | head -n 1 | cut -d/ -f3)
	[ -n "$thread" ] || return 0
	refused 1 'is a kernel thread' -p "$thread"
}
check 'a kernel thread' kernel_thread

is_zombie() {
	[ "$(state "$1")" = Z ]
}

zombie() {
	# The shell becomes one that waits for nothing before its child ends.
	sh -c 'sleep 0.5 & echo $!; exec sleep 100' >"$tmp/zombie" &
	ours="$ours $!"
	wait_for "$tmp/zombie" '' && pid=$(cat "$tmp/zombie") || return 1
	wait_until is_zombie "$pid" || return 1
	refused 1 'is a zombie' -p "$pid"
}
check 'a zombie' zombie

start t
not_a_process() {
	thread=$(ls "/proc/$target/task" | tail -1)
	refused 1 "$thread is a thread of process $target" -p "$thread"
}
check 'a thread' not_a_process

traced_already() {
	attach -p $target || return 1
	status_is 1 "$trailcam" attach --source step -p $target -o "$tmp/r.tsv" 2>"$tmp/second" && says "$tmp/second" "is already traced by process" &&
		says "$tmp/second" '(trailcam)' || return 1
	kill -INT $tracer
	ends_with 0 $tracer && untraced $target
}
check 'traced already: by whom' traced_already

other_user() {
	mkdir -p "$tmp/open" && chmod 755 "$tmp" && chmod 777 "$tmp/open" && cp "$trailcam" "$tmp/open/"
	status_is 1 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$tmp/open/trailcam" \
		attach --source step -p $target -o "$tmp/open/r.tsv" 2>"$tmp/err" && says "$tmp/err" 'belongs to user root: attaching to it needs CAP_SYS_PTRACE'
}
if [ "$(id -u)" -eq 0 ]; then
	check "another user's process" other_user
else
	skip "another user's process" 'needs root'
fi
say t quit

# --- in the middle of attaching

dies_meanwhile() {
	for round in 1 2 4 6 8; do
		start d || return 1
		"$trailcam" attach --source step -p $target -o "$tmp/t.tsv" >"$tmp/err" 2>&1 &
		tracer=$!
		sleep 0.0$round
		kill -9 $target
		wait $tracer
		[ $? -le 1 ] && wait $target
		[ ! -d "/proc/$target" ] && grep -qE 'ended|just ending|there is no process|zombie|killed' "$tmp/err" || {
			cat "$tmp/err"
			return 1
		}
	done
}
check 'a target killed at any moment is said, and none is left behind' dies_meanwhile

execs_meanwhile() {
	for round in 1 2 3; do
		start e "$programs/server-static" || return 1
		say e become become become &
		attach -p $target || return 1
		say e become work quit
		ends_with 9 $target && ends_with 0 $tracer && says "$tmp/e.out" work || return 1
	done
}
check 'a target that executes itself meanwhile' execs_meanwhile

# --- with a trigger

if bpf_missing; then
	skip 'attaching with a trigger' "$bpf_reason"
	finish
fi

hit() {
	start h || return 1
	attach -p $target -t handle --keep-recording "$tmp/rec" || return 1
	say h work
	ends_with 0 $tracer && says "$tmp/err" 'hit handle' && untraced $target || return 1
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
	says "$tmp/hits" '  rdi 0x7' && grep -q "^  pid $target\$" "$tmp/hits" && grep -q '#1 0x[0-9a-f]* main+0x' "$tmp/hits" || return 1
	say h work quit
	ends_with 9 $target
}
check 'a hit: snapshot, and the target runs on' hit

child_hit() {
	start c || return 1
	attach -p $target --follow-forks -t handle --keep-recording "$tmp/rec" || return 1
	say c fork
	ends_with 0 $tracer || return 1
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
	says "$tmp/hits" '  rdi 0x5' && ! grep -q "^  pid $target\$" "$tmp/hits" || return 1
	say c quit
	ends_with 9 $target && says "$tmp/c.out" 'child 4'
}
check '--follow-forks: a hit in a child' child_hit

strangers() {
	start x && stranger=$target && start y || return 1
	attach -p $target --follow-forks -t handle || return 1
	say x work work quit
	ends_with 9 $stranger || return 1
	kill -0 $tracer && ! grep -q 'hit handle' "$tmp/err" || return 1
	say y work
	ends_with 0 $tracer && says "$tmp/err" 'hit handle' || return 1
	say y quit
	ends_with 9 $target
}
check 'hits of other processes do not count' strangers

from() {
	start f || return 1
	attach -p $target --step-from handle --on-exit 9 || return 1
	say f trap work quit
	ends_with 9 $target && ends_with 0 $tracer && says "$tmp/t.tsv" handle && ! grep -q block_trap "$tmp/t.tsv"
}
check '--step-from: full speed up to there' from

loaded_library() {
	start l || return 1
	say l dlopen
	wait_for "$tmp/l.out" cos || return 1
	attach -p $target -t libm.so.6:cos || return 1
	say l dlopen
	ends_with 0 $tracer && says "$tmp/err" 'hit libm.so.6:cos' || return 1
	say l quit
	ends_with 9 $target
}
check 'a function of a library that was loaded later' loaded_library

# hit_in SYMBOL: a hit of it in $target, the server o, and its caller's name.
hit_in() {
	attach -p $target -t "$1" --keep-recording "$tmp/rec" || return 1
	say o work
	ends_with 0 $tracer && says "$tmp/err" "hit $1" || return 1
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
	grep -q '#1 0x[0-9a-f]* main+0x' "$tmp/hits" || return 1
	say o quit
	ends_with 9 $target
}

replaced() {
	cp "$programs/server" "$tmp/replaced" && start o "$tmp/replaced" || return 1
	rm "$tmp/replaced" && cp /bin/true "$tmp/replaced" && hit_in handle
}
check 'a program whose file has been replaced' replaced

# As in a container: the names that the process has for its files are nothing to us.
other_tree() {
	mkdir -p "$tmp/root/app" && cp "$programs/server" "$tmp/root/app/" || return 1
	for file in $(ldd "$programs/server" | grep -o '/[^ ]*'); do
		mkdir -p "$tmp/root/${file%/*}" && cp "$file" "$tmp/root/$file" || return 1
	done
	start o unshare --mount chroot "$tmp/root" /app/server && hit_in "$1"
}
if unshare --mount true 2>/dev/null; then
	check 'a function of a program in another file system tree' other_tree handle
	check 'and of its library' other_tree libc.so.6:printf
else
	skip 'a program in another file system tree' 'mount namespaces are not allowed here'
fi

too_many() {
	start p || return 1
	timeout 500 "$trailcam" attach --source none -p $target --attach-via perf_uprobe -t 'libc.so.6:[gs]*' -o "$tmp/t.tsv" 2>"$tmp/err" && return 1
	says "$tmp/err" 'too many for perf uprobes' && untraced $target || return 1
	say p work quit
	ends_with 9 $target
}
check 'more perf uprobes than can be set in reasonable time are refused' too_many

# Processes of that name come and go all the time; what is left is attached to.
members_end() {
	cp "$programs/server" "$tmp/short-lived" && start m "$tmp/short-lived" || return 1
	while [ -e "$tmp/short-lived" ]; do "$tmp/short-lived" </dev/null >/dev/null 2>&1; done &
	churn=$!
	ours="$ours $churn"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		status_is 0 timeout 500 "$trailcam" attach -v --source none --comm short-lived -t handle --duration 0.1s -o "$tmp/t.tsv" 2>"$tmp/err" || {
			cat "$tmp/err"
			return 1
		}
	done
	rm "$tmp/short-lived"
	wait $churn
	untraced $target || return 1
	say m work quit
	ends_with 9 $target
}
check '--comm: those that end meanwhile are left out' members_end

# A parent in vfork(2) does not stop until its child, which nobody traces, goes on.
cat >"$tmp/stuck.c" <<'EOF'
#include <unistd.h>
int main(void)
{
	char byte;
	if (!vfork())
		_exit(read(0, &byte, 1) != 1);
	return 7;
}
EOF
gcc -O1 -w -o "$tmp/stuck" "$tmp/stuck.c" || exit 1
unstoppable() {
	rm -f "$tmp/stuck.in" && mkfifo "$tmp/stuck.in" || return 1
	"$tmp/stuck" <"$tmp/stuck.in" &
	stuck=$!
	ours="$ours $stuck"
	exec 9>"$tmp/stuck.in"
	wait_until grep -q '^State:.*disk' /proc/$stuck/status && status_is 0 timeout 100 "$trailcam" attach "$@" --duration 0.1s -o "$tmp/t.tsv" $stuck 2>"$tmp/err" &&
		grep -q '^State:.*disk' /proc/$stuck/status && says "$tmp/err" "thread $stuck waits in the kernel" || return 1
	echo >&9
	exec 9>&-
	status_is 7 wait $stuck
}
check 'a process that nothing can stop' unstoppable --source none --on-exit 3
check 'the same with samples' unstoppable --source samples

# A stop interrupts poll(2), with which restart_syscall(2) would go on: a filter that does not know it kills.
restricted_wait() {
	mkfifo "$tmp/input"
	"$programs/restricted" wait <"$tmp/input" >"$tmp/waited" &
	target=$!
	ours="$ours $target"
	exec 5>"$tmp/input"
	wait_until grep -q a "$tmp/waited"
	for way in 'samples --follow-forks' 'samples --freeze -t libc.so.6:getppid' step translate; do
		"$trailcam" attach --source $way --duration 60ms -o "$tmp/t.tsv" -p $target 2>"$tmp/err"
		kill -CHLD $target || return 1
	done
	echo >&5
	exec 5>&-
	status_is 7 wait $target
}
if [ "$(id -u)" = 0 ]; then
	check 'a program whose filter of system calls knows poll only' restricted_wait
else
	skip 'a program whose filter of system calls knows poll only' 'only root is shown its filters'
fi

# A server whose workers were there before: without a hit it is said that they are not recorded.
workers() {
	sh -c 'sleep 60 & echo; wait' >"$tmp/began" &
	server=$!
	wait_until [ -s "$tmp/began" ] && sleep 0.02
	worker=$(pgrep -P $server)
	ours="$ours $server $worker"
	"$trailcam" attach --source none --follow-forks --duration 10ms -t libc.so.6:getppid -o "$tmp/t.tsv" -p $server 2>"$tmp/err"
	says "$tmp/err" "process $server has child processes that are not recorded" || return 1
	"$trailcam" attach --source none --follow-forks --duration 10ms -t libc.so.6:getppid -o "$tmp/t.tsv" -p $server,$worker 2>"$tmp/err" && ! grep 'child processes' "$tmp/err"
}
check 'workers that were there before' workers

run_children() {
	status_is 0 "$trailcam" run --follow-forks -t "$programs/exits:marker" --keep-recording "$tmp/rec" -o "$tmp/t.tsv" -- sh -c "$programs/exits mark; true" \
		>/dev/null 2>"$tmp/err" && says "$tmp/err" "hit $programs/exits:marker" || return 1
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits" && says "$tmp/hits" '  comm exits'
}
check 'run --follow-forks: a hit in what a child executes' run_children

# Many end before their parents' forks are told of.
short_children() {
	status_is 0 timeout 500 "$trailcam" run --source samples --follow-forks -o "$tmp/t.tsv" -- sh -c 'i=0
		while [ $((i += 1)) -le 8 ]; do (j=0; while [ $((j += 1)) -le 20 ]; do x=$( (:) | (:) ); done) & done; wait; echo all' >"$tmp/out" 2>"$tmp/err" &&
		says "$tmp/out" all
}
check 'run --follow-forks: children that end at once' short_children
finish
