#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Samples of a process with very many threads, and of storms of threads and children: the targets do all that
# they would do alone, and nobody holds them afterwards.
. tests/e2e/lib.sh
many=10000
running=
trap 'for pid in $running; do kill $pid; done 2>/dev/null; rm -rf "$tmp"' EXIT

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
		says "$tmp/out" '5000 did their part' && says "$tmp/err" 'hit exit 0' && "$trailcam" decode -o "$tmp/again.json" "$tmp/each" 2>"$tmp/err" &&
		cmp "$tmp/t.json" "$tmp/again.json"
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

# Each child takes a file of trailcam's, which may have no more than a few here.
on_its_own() {
	files=$((60 + 4 * $(getconf _NPROCESSORS_CONF)))
	(ulimit -n $files && exec "$trailcam" run --source samples --follow-forks -o "$tmp/t.json" -- sh -c '
		i=0
		while [ $i -lt '$files' ]; do sleep 1 & i=$((i + 1)); done
		wait
		echo "$i children"') >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 125 ] && says "$tmp/err" 'the recording ends here' && says "$tmp/out" "$files children"
}
check 'a recording that fails leaves the program alone' on_its_own
finish
