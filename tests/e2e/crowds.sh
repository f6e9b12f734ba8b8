#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Samples of a process with very many threads, and of storms of threads and children: the targets do all that
# they would do alone, and nobody holds them afterwards.
. tests/e2e/lib.sh
many=10000
running=
trap 'kill_ours $running; rm -rf "$tmp"' EXIT

if bpf_missing; then
	skip 'crowds' "$bpf_reason"
	finish
fi
if ! echo | "$programs/crowd" all $many >"$tmp/out" 2>&1; then
	skip 'crowds' "this machine does not have $many threads: $(tail -1 "$tmp/out")"
	finish
fi

at_once() {
	echo | status_is 0 "$trailcam" run --source samples -t marker -o "$tmp/t.json" -- "$programs/crowd" all $many >"$tmp/out" 2>"$tmp/err" &&
		says "$tmp/out" "$many did their part" && says "$tmp/err" 'hit marker' && grep -qE 'in [0-9]{4,} threads' "$tmp/err"
}
check "$many threads from their births on" at_once

# attached OPTION...: to such a process, which goes on afterwards.
attached() {
	rm -f "$tmp/in" && mkfifo "$tmp/in" && : >"$tmp/out" || return 1
	"$programs/crowd" all $many <"$tmp/in" >"$tmp/out" &
	running=$! && exec 9>"$tmp/in" && wait_for "$tmp/out" ready || return 1
	status_is 0 "$trailcam" attach --source samples "$@" -o "$tmp/t.json" $running 2>"$tmp/err" && says "$tmp/err" 'the time is up' || return 1
	[ "$(grep -hc '^TracerPid:	0$' /proc/$running/task/*/status | grep -c 1)" -eq $((many + 1)) ] || return 1
	exec 9>&- && wait $running && running= && says "$tmp/out" "$many did their part"
}
check "attach to $many threads" attached --duration 300ms

one_by_one() {
	status_is 0 "$trailcam" run --source samples --on-exit 0 -o "$tmp/t.json" --keep-recording "$tmp/each" -- "$programs/crowd" each 5000 >"$tmp/out" 2>"$tmp/err" &&
		says "$tmp/out" '5000 did their part' && says "$tmp/err" 'hit exit 0' && same_again "$tmp/each" "$tmp/t.json"
}
check 'a storm of threads, decoded again to the same' one_by_one

# A target that dies at any moment: the trace up to then, or one sentence.
dies() {
	for after in 0.05 0.1 0.2 0.3 0.4 0.6; do
		rm -f "$tmp/in" && mkfifo "$tmp/in" && : >"$tmp/out" || return 1
		"$programs/crowd" all 200 <"$tmp/in" >"$tmp/out" &
		running=$! && exec 9>"$tmp/in" && wait_for "$tmp/out" ready || return 1
		(sleep $after && kill -9 $running) &
		"$trailcam" attach --source samples -t marker -o "$tmp/t.json" $running 2>"$tmp/err"
		got=$?
		exec 9>&-
		wait $running $!
		running=
		case $got in
		0) says "$tmp/err" 'wrote' || return 1 ;;
		1) grep -qE '^trailcam: (process [0-9]+ has ended|there is no process)' "$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ] || { cat "$tmp/err"; return 1; } ;;
		*) return 1 ;;
		esac
	done
}
check 'a target that dies at any moment' dies

# Each child's status arrives.
cat >"$tmp/storm" <<'EOF'
i=0 wrong=0
while [ $i -lt "$1" ]; do
	(exit $((i % 7))) || [ $? -eq $((i % 7)) ] || wrong=$((wrong + 1))
	[ $((i % 10)) -ne 0 ] || /bin/true || wrong=$((wrong + 1))
	i=$((i + 1))
done
echo "$i children, $wrong wrong"
EOF
children() {
	status_is 0 "$trailcam" run --source samples --follow-forks -o "$tmp/t.json" -- sh "$tmp/storm" 1000 >"$tmp/out" 2>"$tmp/err" &&
		says "$tmp/out" '1000 children, 0 wrong' && grep -qE 'in [0-9]{3,} threads' "$tmp/err"
}
check 'a storm of children' children

while_it_storms() {
	sh "$tmp/storm" 8000 >"$tmp/out" &
	running=$!
	status_is 0 "$trailcam" attach --source samples --follow-forks --duration 200ms -o "$tmp/t.json" $running 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	wait $running && running= && says "$tmp/out" '8000 children, 0 wrong'
}
check 'attach to a storm of children' while_it_storms

# Each child takes a file of trailcam's, which may have no more than a few here. None ends before all are there.
on_its_own() {
	files=$((63 + 4 * $(getconf _NPROCESSORS_CONF)))
	rm -f "$tmp/in" && mkfifo "$tmp/in" || return 1
	(ulimit -n $files && exec "$trailcam" run --source samples --follow-forks -o "$tmp/t.json" -- sh -c '
		exec 9<>"$0"
		i=0
		while [ $i -lt '$files' ]; do sh -c "read -r line" <&9 & i=$((i + 1)); done
		seq $i >&9
		wait
		echo "$i children"' "$tmp/in") >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 125 ] && says "$tmp/err" 'the recording ends here' && says "$tmp/out" "$files children"
}
check 'a recording that fails leaves the program alone' on_its_own

# The first thread leaves before the others, or another one executes a program.
cat >"$tmp/left.c" <<'EOF2'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static const char *how;
static void burn(void)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 300000000);
}
__attribute__((noinline)) void in_other(void) { burn(); __asm__ volatile(""); }
__attribute__((noinline)) void in_new(void) { burn(); __asm__ volatile(""); }
static void *other(void *arg)
{
	pthread_setname_np(pthread_self(), "other");
	in_other();
	if (!strcmp(how, "exec"))
		execl("/proc/self/exe", "left", "new", NULL);
	if (!strcmp(how, "exit"))
		exit(3);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	char byte;
	how = argv[1];
	if (!strcmp(how, "new")) {
		in_new();
		return 5;
	}
	if (argc > 2)
		read(0, &byte, 1);
	pthread_create(&thread, NULL, other, NULL);
	if (strcmp(how, "exec"))
		pthread_exit(NULL);
	pthread_join(thread, NULL);
	return 4;
}
EOF2
gcc -O1 -w -o "$tmp/left" "$tmp/left.c" -lpthread || exit 1
# all_seen HOW: what its threads did. The one that executes a program takes its name along.
all_seen() {
	says "$tmp/t.folded" ';other;in_other' || return 1
	if [ "$1" = exec ]; then says "$tmp/t.folded" ';main;in_new'; else grep '^other;.*;in_other' "$tmp/t.folded"; fi
}
first_leaves() {
	for how in leave:0 exit:3 exec:5; do
		status_is ${how#*:} "$trailcam" run --source samples -o "$tmp/t.folded" -- "$tmp/left" ${how%:*} 2>"$tmp/err" &&
			says "$tmp/err" "exit status ${how#*:}" && all_seen ${how%:*} || return 1
	done
}
check 'a program whose first thread leaves' first_leaves
# That thread is not held at its exec, and probes follow it a little later.
hits_are_missed() {
	status_is 5 "$trailcam" run --source samples -t in_new --on-exit 5 -o "$tmp/t.folded" -- "$tmp/left" exec 2>"$tmp/err"
	says "$tmp/err" 'hits in the first moments of that were not seen' &&
		"$trailcam" run --source samples -t in_other -o "$tmp/t.folded" -- "$tmp/left" leave 2>"$tmp/err" && ! grep -q 'were not seen' "$tmp/err"
}
check 'hits of a program that such a thread executes' hits_are_missed
first_leaves_attached() {
	for how in leave exit exec; do
		rm -f "$tmp/in" && mkfifo "$tmp/in" && : >"$tmp/err" || return 1
		"$tmp/left" $how wait <"$tmp/in" &
		running=$! && exec 9>"$tmp/in"
		"$trailcam" attach --source samples -o "$tmp/t.folded" $running -v 2>"$tmp/err" &
		wait_for "$tmp/err" attached || return 1
		echo >&9 && exec 9>&- && wait $! && says "$tmp/err" 'the target ended' && all_seen $how || return 1
		running=
	done
}
check 'the same, attached' first_leaves_attached
finish
