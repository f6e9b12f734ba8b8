#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes DIR/kernel, a Debian cloud kernel, with DIR/modules, and DIR/soft_pt.ko, the software
# processor under that kernel's own intel_pt driver. Everything comes from Debian's packages, is unpacked and
# never installed; of the kernel's source two files are kept.
# Usage: tests/vm/kernel.sh 6.12|6.1 DIR	exit status 1: something is not to be had here, 2: the module does not build
set -eu
series=$1 dir=$2
mkdir -p "$dir"
exec 8>"$dir/lock" # several tests may want the same
flock 8
case $series in
6.1) image_meta=linux-image-cloud-amd64 ;;
*) image_meta=linux-image-$series-cloud-amd64 ;;
esac

die() {
	echo "$*" >&2
	exit 1
}

# The newest package of that series: what the meta package stands for.
image=$(apt-cache depends "$image_meta" 2>/dev/null | sed -n 's/^ *Depends: //p' | head -1)
[ -n "$image" ] || die "the package $image_meta is not to be had (apt-get update?)"
release=${image#linux-image-}
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$release $(cat tests/vm/kmod/* tests/vm/kmod/include/* user/source/encoder.[ch] user/source/aux_ring.h user/model/trace_params.h tests/vm/kernel.sh 2>/dev/null | md5sum)" ] || exit 0

headers=linux-headers-$release
depends=$(apt-cache depends "$headers" | sed -n 's/^ *Depends: //p')
common=$(echo "$depends" | grep -e '-common$')
kbuild=$(echo "$depends" | grep '^linux-kbuild-')
root=$PWD/$dir/root
mkdir -p "$dir/packages" "$root"

# All at once: apt-get reads the lists of all packages each time.
download() {
	missing=
	for package; do
		[ -e "$dir/packages/$package.done" ] || missing="$missing $package"
	done
	# shellcheck disable=SC2086 # a list of words
	[ -z "$missing" ] || (cd "$dir/packages" && apt-get download -qq $missing 2>/dev/null) || die "cannot download$missing"
}

# unpack PACKAGE: into $root
unpack() {
	[ ! -e "$dir/packages/$1.done" ] || return 0
	dpkg-deb -x "$dir/packages/$1"_*.deb "$root"
	rm "$dir/packages/$1"_*.deb
	touch "$dir/packages/$1.done"
}

# The driver is in no other package than the kernel's whole source.
unpack_driver() {
	[ ! -e "$dir/packages/$1.done" ] || return 0
	mkdir -p "$root/driver"
	# Nothing is unpacked behind the two files.
	dpkg-deb --fsys-tarfile "$dir/packages/$1"_*.deb 2>/dev/null |
		tar -xO "./usr/src/$1.tar.xz" 2>/dev/null | xz -dc -T0 2>/dev/null |
		tar -x -C "$root/driver" --strip-components=5 --occurrence=1 --wildcards '*/arch/x86/events/intel/pt.c' \
			'*/arch/x86/events/intel/pt.h'
	rm "$dir/packages/$1"_*.deb
	touch "$dir/packages/$1.done"
}

source=linux-source-$series
download "$image" "$headers" "$common" "$kbuild" pahole "$source"
for package in "$image" "$headers" "$common" "$kbuild" pahole; do
	unpack "$package"
done
unpack_driver "$source"
# Zstandard takes long to unpack in QEMU. So that is done here: the kernel itself stands where vmlinuz says
# (Documentation/arch/x86/boot.rst: setup_sects, payload_offset), and behind it its size, which zstd complains of.
number() {
	od -A n -t "u$2" -j "$1" -N "$2" "$root/boot/vmlinuz-$release"
}
tail -c "+$((($(number 497 1) + 1) * 512 + $(number 584 4) + 1))" "$root/boot/vmlinuz-$release" |
	zstd -dc >"$dir/kernel" 2>/dev/null || true
[ -s "$dir/kernel" ] || cp "$root/boot/vmlinuz-$release" "$dir/kernel"
# The way results come out of the guest, where it is not built in: in the order of loading.
rm -rf "$dir/modules"
mkdir -p "$dir/modules"
nth=0
for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_console; do
	nth=$((nth + 1))
	find "$root/lib/modules" -name "$module.ko" -exec cp {} "$dir/modules/$nth-$module.ko" \;
done

rm -rf "$dir/kmod"
mkdir -p "$dir/kmod/intel" "$dir/kmod/source" "$dir/kmod/model"
cp -r tests/vm/kmod/* "$dir/kmod"
cp user/source/encoder.[ch] user/source/aux_ring.h "$dir/kmod/source"
cp user/model/trace_params.h "$dir/kmod/model"
cp "$root/driver/pt.c" "$root/driver/pt.h" "$dir/kmod/intel"
# The headers name each other by where they would be installed.
sed -i "s,^include /usr/src,include $root/usr/src," "$root/usr/src/$headers/Makefile"
PATH=$root/usr/bin:$PATH LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu \
	make -s -C "$root/usr/src/$headers" M="$PWD/$dir/kmod" CC=gcc-12 modules >"$dir/build.log" 2>&1 || {
	echo "the module does not build for $release: $(grep -m1 -i error "$dir/build.log")" >&2
	exit 2
}
cp "$dir/kmod/soft_pt.ko" "$dir/soft_pt.ko"
echo "$release $(cat tests/vm/kmod/* tests/vm/kmod/include/* user/source/encoder.[ch] user/source/aux_ring.h user/model/trace_params.h tests/vm/kernel.sh 2>/dev/null | md5sum)" >"$dir/stamp"
