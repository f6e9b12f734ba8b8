#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The commands of docs/tutorial.md do what it says.
. tests/e2e/lib.sh

if bpf_missing; then
	skip 'the tutorial' "$bpf_reason"
	exit 0
fi
root=$PWD
cd "$tmp" || exit 1
chapter() {
	python3 "$root/tests/e2e/tutorial.py" "$root/docs/tutorial.md" "$root/$BUILD" "$1" || failures=1
}
chapter 1
if [ -e /sys/bus/event_source/devices/intel_pt ]; then
	skip 'a server that is sampled' 'this machine has Intel PT'
elif ! [ -x "$(command -v redis-server)" ] || ! [ -x "$(command -v redis-benchmark)" ]; then
	skip 'a server that is sampled' 'redis-server or redis-tools is not installed'
elif redis-cli -p 7777 ping >/dev/null 2>&1; then
	skip 'a server that is sampled' 'another server has its port'
else
	PATH=$root/$BUILD:$PATH
	export PATH
	trap 'redis-cli -p 7777 shutdown nosave >/dev/null 2>&1; [ -n "${KEEP:-}" ] || rm -rf "$tmp"' EXIT
	chapter 2
fi
cd "$root" || exit 1
finish
