#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Boots a kernel of kernel.sh in QEMU (no hardware virtualisation needed), runs a shell script there and
# brings back what it leaves in /out. FILEs stand there under their absolute paths, so that what is recorded
# can be decoded here, with the libraries they need and a link in /bin.
# Usage: tests/vm/boot.sh DIR SCRIPT OUT FILE...	DIR as made by kernel.sh; the console is left in OUT/console
#	VM_CAPTURES=NAME,NAME...	what the script is to make (default: all)
#	VM_LIMIT=600	a machine that says nothing for so many seconds is ended
set -eu
dir=$1 script=$2 out=$3
shift 3
rm -rf "$out"
mkdir -p "$out/root/bin" "$out/root/proc" "$out/root/sys" "$out/root/tmp" "$out/root/out" "$out/root/dev"
cp /bin/busybox "$out/root/bin/busybox"
cp -r "$dir/soft_pt.ko" "$dir/modules" "$out/root/"
cp "$script" "$out/root/script"
cp tests/vm/init "$out/root/init"
chmod +x "$out/root/init"
for file; do
	file=$(realpath "$file")
	cp --parents "$file" "$out/root"
	ln -s "$file" "$out/root/bin/"
	ldd "$file" 2>/dev/null | grep -o '/[^ ]*' >>"$out/libraries" || true
done
sort -u "$out/libraries" | while read -r library; do
	cp -L --parents "$library" "$out/root/"
done
(cd "$out/root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$out/initramfs"
rm -rf "$out/root" "$out/libraries"

# Ends a machine that hangs; says how far it is to descriptor 9, where there is one.
watch() {
	quiet=0 before=
	while [ $quiet -lt "${VM_LIMIT:-600}" ]; do
		sleep 5
		size=$(cat "$out/console" "$out/tar" 2>/dev/null | wc -c)
		if [ "$size" = "$before" ]; then
			quiet=$((quiet + 5))
		else
			quiet=0
			echo "# $(tail -n 1 "$out/console" | tr -cd '[:print:]')" >&9 || true
		fi
		before=$size
	done
	echo "the virtual machine says nothing"
	kill "$1"
}

# A guest that the host lets wait is neither stuck nor without a timer: its kernel does not judge that.
# Pages are not cleared twice, copies not checked, ciphers not tried: that is a fifth of the boot.
# Its kernel copies and clears by loops, since QEMU translates `rep movsb` byte by byte.
# With a thread per processor, one that has been made to see new code may still run the old (QEMU 7.2), which
# ends kernels that patch themselves.
qemu-system-x86_64 -M pc -accel tcg,thread=single -smp "${VM_CPUS:-2}" -m 1536 \
	-cpu "${VM_CPU:-max,la57=off,level=22}" -nodefaults -no-reboot -display none -serial "file:$out/console" \
	-device virtio-serial-pci -chardev "file,id=out,path=$out/tar" -device virtserialport,chardev=out,name=out \
	-kernel "$dir/kernel" -initrd "$out/initramfs" \
	-append "console=ttyS0 quiet nokaslr mitigations=off panic=-1 audit=0 apparmor=0 tsc=reliable no_timer_check rcupdate.rcu_cpu_stall_suppress=1 nosoftlockup init_on_alloc=0 hardened_usercopy=off kfence.sample_interval=0 cryptomgr.notests clearcpuid=rep_good,erms,fsrm captures=${VM_CAPTURES:-}" </dev/null &
machine=$!
watch $machine 2>/dev/null &
watcher=$!
trap 'kill $machine $watcher' INT TERM HUP
wait $machine
kill $watcher
rm "$out/initramfs"
tar -x -f "$out/tar" -C "$out"
rm "$out/tar"
