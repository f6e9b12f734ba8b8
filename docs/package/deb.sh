#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make deb: the Debian package of what `make install` installs, in BUILD. One binary package without
# maintainer scripts: all that a source package would add to this is debhelper.
set -eu
build=$1 version=$2
work=$build/package/deb
root=$work/trailcam
doc=$root/usr/share/doc/trailcam
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH

rm -rf "$work" && mkdir -p "$root/DEBIAN" "$work/debian"
make -s --no-print-directory install BUILD="$build" DESTDIR="$root" PREFIX=/usr ZSH_COMPLETIONS=share/zsh/vendor-completions
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root/usr/bin/trailcam" \
	"$root/usr/lib/trailcam/libtrailcam-alloc.so"
gzip -9n "$root/usr/share/man/man1/trailcam.1"
mv "$doc/LICENSE" "$doc/copyright"
maintainer="${DEBFULLNAME:-the trailcam authors} <${DEBEMAIL:-trailcam@localhost}>"
gzip -9n >"$doc/changelog.gz" <<-EOF2
	trailcam ($version) unstable; urgency=medium

	  * See the history of the sources.

	 -- $maintainer  $(date -Ru -d "@$SOURCE_DATE_EPOCH")
EOF2

# Which package has a file's symbols is read in dpkg's lists: what often runs as root starts no dpkg-query.
mkdir -p "$root/usr/share/lintian/overrides"
echo 'trailcam: uses-dpkg-database-directly [usr/bin/trailcam]' >"$root/usr/share/lintian/overrides/trailcam"

# dpkg-shlibdeps asks for the source package that there is not.
printf 'Source: trailcam\n\nPackage: trailcam\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O trailcam/usr/bin/trailcam trailcam/usr/lib/trailcam/*.so | sed 's/^shlibs:Depends=//')
cat >"$root/DEBIAN/control" <<-EOF2
	Package: trailcam
	Version: $version
	Architecture: amd64
	Maintainer: $maintainer
	Installed-Size: $(du -sk "$root/usr" | cut -f1)
	Depends: $depends
	Suggests: fzf
	Section: devel
	Priority: optional
	Description: control-flow flight recorder for running programs
	 Records every branch of a program (by Intel PT, or by translating it), or its
	 call stacks and waits a thousand times a second, into a ring. When a function
	 of your choice is called, an eBPF uprobe stops the recording, and the ring is
	 decoded into a timeline of what led up to it, for a trace viewer.
EOF2
(cd "$root" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
chmod -R u=rwX,go=rX "$root"
dpkg-deb --root-owner-group --build "$root" "$build/trailcam_${version}_amd64.deb" >/dev/null
echo "$build/trailcam_${version}_amd64.deb"
