#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The traced program is replaced by another build before the recording is decoded: that is not decoded into
# nonsense, and the right file is found elsewhere. Of files that only the process leads to, copies are kept.
. tests/e2e/lib.sh

decode() {
	"$trailcam" decode -o "$tmp/now.tsv" "$@" "$tmp/rec" 2>"$tmp/err"
}

same_as_before() {
	decode "$@" && cmp "$tmp/before.tsv" "$tmp/now.tsv"
}

mkdir "$tmp/bin"
cp "$programs/wordcount" "$tmp/bin/program"
id=$(readelf -n "$tmp/bin/program" | sed -n 's/.*Build ID: //p')
check 'recorded' "$trailcam" run --source step --snapshot-size 1M --keep-recording "$tmp/rec" -o "$tmp/before.tsv" -- "$tmp/bin/program"
notes_build_ids() {
	perf buildid-list -i "$tmp/rec" | grep -q "$id $tmp/bin/program"
}
if command -v perf >/dev/null; then
	check 'perf finds the build-id in the recording' notes_build_ids
else
	skip 'perf finds the build-id in the recording' 'perf is not installed (package linux-perf)'
fi

mkdir -p "$tmp/fs$tmp/bin" "$tmp/cache/$id" "$tmp/home/.debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)"
mv "$tmp/bin/program" "$tmp/fs$tmp/bin/program"
cp "$programs/torture" "$tmp/bin/program"
refused() {
	decode && says "$tmp/err" "$tmp/bin/program is another build than the one that was traced" && says "$tmp/err" --symfs &&
		grep -q 'gap: no code' "$tmp/now.tsv" && ! grep -q 'test_' "$tmp/now.tsv" && grep -q _dl_start "$tmp/now.tsv"
}
check 'another build is refused, and the rest decoded' refused
check 'the right one below --symfs' same_as_before --symfs "$tmp/fs"
same_from_here() (
	cd "$tmp" && same_as_before --symfs fs
)
check 'the same by a relative path' same_from_here
cp "$tmp/fs$tmp/bin/program" "$tmp/cache/$id/executable"
check "the right one in debuginfod's cache" env DEBUGINFOD_CACHE_PATH="$tmp/cache" "$trailcam" decode -o "$tmp/now.tsv" "$tmp/rec"
check 'with the same calls as before' cmp "$tmp/before.tsv" "$tmp/now.tsv"
cp "$tmp/fs$tmp/bin/program" "$tmp/home/.debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)/elf"
check "the right one in perf's cache" env HOME="$tmp/home" "$trailcam" decode -o "$tmp/now.tsv" "$tmp/rec"
check 'with the same calls' cmp "$tmp/before.tsv" "$tmp/now.tsv"
rm "$tmp/bin/program"
missing() {
	decode && grep -q 'gap: no code' "$tmp/now.tsv"
}
check 'a file that is gone is a gap' missing

# starts [COMMAND...]: $tmp/bin/gone, a copy of `busy`, with a C library of its own, until $tmp/on is gone. Its
# files are removed.
mkdir "$tmp/lib"
starts() {
	cp "$programs/busy" "$tmp/bin/gone" && cp "$(ldd "$programs/busy" | awk '/libc\.so/ { print $3 }')" "$tmp/lib" && : >"$tmp/on" || return 1
	LD_LIBRARY_PATH=$tmp/lib "$@" "$tmp/bin/gone" "$tmp/on" &
	pid=$!
	wait_until runs $pid gone && rm "$tmp/bin/gone" "$tmp/lib/"*
}
named() {
	for name in turn clock_nanosleep; do
		cut -f4 "$1" | grep -q "^$name\\>" || { cat "$1"; return 1; }
	done
}
is_traced() {
	grep -q '^TracerPid:.[1-9]' /proc/$pid/status
}
ends_in_recording() {
	starts "$@" || return 1
	"$trailcam" attach --source samples -o "$tmp/end.tsv" $pid 2>"$tmp/err" &
	tracer=$!
	wait_until is_traced && sleep 0.3 && rm "$tmp/on" && wait $tracer && named "$tmp/end.tsv"
}
ends_before_decoding() {
	starts && "$trailcam" attach --source samples --duration 300ms --keep-recording "$tmp/kept" -o "$tmp/before.tsv" $pid 2>"$tmp/err" || return 1
	rm "$tmp/on" && wait $pid && "$trailcam" decode -o "$tmp/now.tsv" "$tmp/kept" 2>"$tmp/err" && named "$tmp/now.tsv" && cmp "$tmp/before.tsv" "$tmp/now.tsv"
}
if [ "$(id -u)" -eq 0 ]; then
	check 'removed files of a program that ends in the recording' ends_in_recording
	check 'and of one that has ended when the recording is decoded' ends_before_decoding
	mkdir "$tmp/own"
	# shellcheck disable=SC2016
	check 'files of a mount namespace that ends with its program' ends_in_recording unshare -m sh -c '
		mount -t tmpfs none "$0" && cp "$1" "$0/gone" && exec "$0/gone" "$2"' "$tmp/own"
	probed_where_it_is() {
		starts && status_is 0 "$trailcam" attach --source none --duration 10s -t libc.so.6:nanosleep -o "$tmp/hit.tsv" $pid 2>"$tmp/err" || return 1
		rm "$tmp/on" && wait $pid && says "$tmp/err" 'hit libc.so.6:nanosleep'
	}
	# in_layers COMMAND...: $tmp/over/prog is that of $tmp/below until it is changed, and runs from before that.
	in_layers() {
		rm -rf "$tmp/above" "$tmp/work" && mkdir -p "$tmp/below" "$tmp/above" "$tmp/work" "$tmp/over" && cp "$programs/busy" "$tmp/below/prog" && : >"$tmp/on" || return 1
		# shellcheck disable=SC2016
		unshare -m sh -c 'mount -t overlay overlay -o "lowerdir=$0/below,upperdir=$0/above,workdir=$0/work" "$0/over" || exit 1
			"$0/over/prog" "$0/on" & until grep -q over/prog /proc/$!/maps; do sleep 0.05; done
			touch "$0/over/prog"
			"$@" $!
			status=$?
			rm "$0/on"
			wait
			exit $status' "$tmp" "$trailcam" attach --source none --duration 10s -o "$tmp/hit.tsv" "$@" 2>"$tmp/err"
	}
	probed_below() {
		status_is 1 in_layers -t rarely && says "$tmp/err" 'which lies on overlayfs: if the file was changed since the program began' &&
			status_is 0 in_layers -t "$tmp/below/prog:rarely" && says "$tmp/err" "hit $tmp/below/prog:rarely"
	}
	if bpf_missing; then
		skip 'a trigger in a file that has changed on overlayfs' "$bpf_reason"
	elif ! unshare -m mount -t overlay overlay -o "lowerdir=$tmp/bin:$tmp/lib" "$tmp/own" 2>/dev/null; then
		skip 'a trigger in a file that has changed on overlayfs' 'overlayfs cannot be mounted'
	else
		check 'a trigger in a file that has changed on overlayfs' probed_below
	fi
	if bpf_missing; then
		skip 'a trigger in a removed file' "$bpf_reason"
	else
		check 'a trigger in a removed file' probed_where_it_is
	fi
else
	skip 'files that only a process leads to' 'only root can read them'
fi
finish
