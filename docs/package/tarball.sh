#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make tarball: PROGRAM, which has in it the libraries that Debian has for static linking, with the few others
# beside it, as an archive in BUILD. Says which libc it needs.
set -eu
build=$1 version=$2 program=$3 static_libs=$4
name=trailcam-$version-x86_64
work=$build/package/tarball
root=$work/$name
lib=$root/lib/trailcam

rm -rf "$work" && mkdir -p "$lib"
make -s --no-print-directory install BUILD="$build" DESTDIR="$root" PREFIX=
install -m 755 "$program" "$root/bin/trailcam"
for file in $(ldd "$program" | sed -n 's/.*=> \(.*\) (.*/\1/p'); do
	case ${file##*/} in
	libc.so.* | libm.so.* | libpthread.so.*) ;;
	*) install -m 644 "$file" "$lib" ;;
	esac
done
strip --strip-unneeded "$root/bin/trailcam" "$lib/libtrailcam-alloc.so"

# Whose code this is, other than ours.
mkdir "$root/share/doc/trailcam/licences"
{
	for file in "$lib"/*; do
		[ "$file" = "$lib/libtrailcam-alloc.so" ] || realpath "$(ldconfig -p | sed -n "s,.*${file##*/} .*x86-64.*=> ,,p" | head -1)"
	done
	for flag in $static_libs; do realpath "$(gcc -print-file-name="lib${flag#-l}.a")"; done
} | xargs dpkg -S | cut -d : -f 1 | sort -u | while read -r package; do
	cp -L "/usr/share/doc/$package/copyright" "$root/share/doc/trailcam/licences/$package"
done

tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct 2>/dev/null || date +%s)" -cf - "$name" |
	gzip -9n >"$build/$name.tar.gz"
glibc=$(objdump -T "$root/bin/trailcam" "$lib"/* | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
echo "$build/$name.tar.gz: needs glibc ${glibc#GLIBC_} or newer"
