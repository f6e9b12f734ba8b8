#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What is installed runs where it was put, and leaves nothing behind when it is removed.
. tests/e2e/lib.sh

# make TARGET...: on the build that is tested
make_it() {
	make -s --no-print-directory BUILD="$BUILD" "$@"
}

# --- make install

installs() {
	make_it install DESTDIR="$tmp/dest" PREFIX=/opt/trailcam || return 1
	for file in bin/trailcam share/man/man1/trailcam.1 include/trailcam.h \
		share/bash-completion/completions/trailcam share/zsh/site-functions/_trailcam share/fish/vendor_completions.d/trailcam.fish \
		share/doc/trailcam/README.md share/doc/trailcam/LICENSE; do
		[ -s "$tmp/dest/opt/trailcam/$file" ] || {
			echo "$file is missing"
			return 1
		}
	done
	"$tmp/dest/opt/trailcam/bin/trailcam" --version | grep -q '^trailcam [0-9]'
}
check 'make install: the program, its manual and its header' installs

uninstalls() {
	: >"$tmp/dest/opt/trailcam/bin/other" && make_it uninstall DESTDIR="$tmp/dest" PREFIX=/opt/trailcam &&
		[ "$(find "$tmp/dest" -type f)" = "$tmp/dest/opt/trailcam/bin/other" ] && [ -z "$(find "$tmp/dest" -mindepth 3 -name '*trailcam*')" ]
}
check 'make uninstall: removes that, and nothing else' uninstalls
finish
