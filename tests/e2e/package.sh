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
	for file in bin/trailcam lib/trailcam/libtrailcam-alloc.so share/man/man1/trailcam.1 include/trailcam.h \
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

# --- make deb

# What the packages named need besides, and they.
packages_with_needs() {
	wanted=$* known=
	while [ -n "$wanted" ]; do
		known=$(echo "$known" "$wanted" | xargs -n1 | sort -u | xargs)
		# shellcheck disable=SC2086
		needs=$(dpkg-query -W -f '${Pre-Depends}, ${Depends}\n' $wanted | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/:any//; s/ //g' | sort -u)
		wanted=
		for package in $needs; do
			case " $known " in *" $package "*) ;; *) wanted="$wanted $package" ;; esac
		done
	done
	echo "$known"
}

# make_root DIR PACKAGE...: a root file system with nothing but the libraries of these packages and of those
# they need.
make_root() {
	root=$1
	shift
	mkdir -p "$root/usr/lib" "$root/usr/lib64" "$root/usr/bin" "$root/tmp" "$root/proc" "$root/dev" && ln -s usr/lib usr/lib64 usr/bin "$root" &&
		mknod -m 666 "$root/dev/null" c 1 3 && cp "$programs/wordcount" "$root/usr/bin" || return 1
	for package in $(packages_with_needs "$@"); do
		for file in $(dpkg -L "$package" | grep '^\(/usr\)\?/lib.*\.so' | grep -v '/gconv/'); do
			[ ! -f "$file" ] || cp -L "$file" "$root/$file" 2>/dev/null || { mkdir -p "$root/${file%/*}" && cp -L "$file" "$root/$file"; } || return 1
		done
	done
}

# runs_in ROOT PROGRAM: the trailcam of that root runs in it.
runs_in() {
	in_root="unshare --mount --pid --fork --mount-proc=$1/proc chroot $1"
	$in_root "$2" --version | grep -q '^trailcam [0-9]' || return 1
	$in_root "$2" run --source step -o /tmp/end.fxt.gz -- /bin/wordcount >"$tmp/out" 2>"$tmp/err" && says "$tmp/out" 'different words' &&
		says "$tmp/err" 'wrote /tmp/end.fxt.gz' && gzip -t "$1/tmp/end.fxt.gz"
}

# The main job: a trigger.
hits_in() {
	$in_root "$2" doctor >"$tmp/out" 2>"$tmp/err" && says "$tmp/out" 'main job works here' &&
		$in_root "$2" run --source step -t table_grow -o /tmp/hit.fxt.gz -- /bin/wordcount >"$tmp/out" 2>"$tmp/err" &&
		says "$tmp/err" 'hit table_grow' && gzip -t "$1/tmp/hit.fxt.gz" || {
		cat "$tmp/out" "$tmp/err"
		return 1
	}
}

check_in() {
	check "$1: runs, and writes a trace" runs_in "$2" "$3"
	if bpf_missing; then
		skip "$1: a trigger" "$bpf_reason"
	else
		check "$1: a trigger" hits_in "$2" "$3"
	fi
}

files_of() {
	(cd "$1" && find . -path ./var/lib/dpkg -prune -o -path ./proc -prune -o -path ./tmp -prune -o -print | sort)
}

# dpkg sees what this machine has, and with that judges the dependencies; the files are those of the
# dependencies only.
installs_deb() {
	deb=$(make_it deb | tail -1)
	depends=$(dpkg-deb -f "$deb" Depends | sed 's/([^)]*)//g; s/,//g')
	# shellcheck disable=SC2086
	make_root "$tmp/root" $depends || return 1
	mkdir -p "$tmp/root/var/lib/dpkg/info" "$tmp/root/var/lib/dpkg/updates" "$tmp/root/var/lib/dpkg/triggers"
	cp /var/lib/dpkg/status /var/lib/dpkg/arch "$tmp/root/var/lib/dpkg/" 2>/dev/null
	files_of "$tmp/root" >"$tmp/before"
	dpkg --root="$tmp/root" --install "$deb" && [ -x "$tmp/root/usr/bin/trailcam" ]
}

check_hardened() {
	check "$1: hardened as the build is" tests/lint/hardening.sh "$2/bin/trailcam" "$2/lib/trailcam/libtrailcam-alloc.so"
}

removes_deb() {
	dpkg --root="$tmp/root" --purge trailcam && files_of "$tmp/root" | diff "$tmp/before" -
}

if [ "$(id -u)" != 0 ]; then
	skip 'the Debian package, installed' 'it takes root'
elif ! command -v dpkg-shlibdeps >/dev/null; then
	skip 'the Debian package' 'there is no dpkg-shlibdeps'
else
	check 'make deb: a package that dpkg installs' installs_deb
	check_in 'the Debian package' "$tmp/root" /usr/bin/trailcam
	check_hardened 'the Debian package' "$tmp/root/usr"
	check 'the Debian package, removed: nothing is left' removes_deb
fi

# --- make tarball

needed_by() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# In a root that has a libc and nothing else; README.md says which libc that may be.
unpacks() {
	make_it tarball | tail -1 >"$tmp/said" && make_root "$tmp/bare" libc6 && mkdir "$tmp/bare/opt" &&
		tar -C "$tmp/bare/opt" --strip-components=1 -xzf "$(sed 's/: needs.*//' "$tmp/said")" &&
		says README.md "The archive needs $(sed 's/.*: needs //' "$tmp/said")"
}

links_to_libc_only() {
	for file in "$tmp/bare/opt/bin/trailcam" "$tmp/bare/opt/lib/trailcam"/*; do
		for lib in $(needed_by "$file"); do
			case $lib in
			libc.so.6 | libm.so.6 | libpthread.so.0) ;;
			*) [ -e "$tmp/bare/opt/lib/trailcam/$lib" ] || {
				echo "${file##*/} needs $lib"
				return 1
			} ;;
			esac
		done
	done
}

# As README.md says, as a plain user.
capable() {
	mkdir -p "$tmp/bare/etc/ld.so.conf.d" && echo 'include /etc/ld.so.conf.d/*.conf' >"$tmp/bare/etc/ld.so.conf" &&
		echo /opt/lib/trailcam >"$tmp/bare/etc/ld.so.conf.d/trailcam.conf" && ldconfig -r "$tmp/bare" &&
		setcap cap_bpf,cap_perfmon=ep "$tmp/bare/opt/bin/trailcam" && chmod 755 "$tmp" "$tmp/bare" && chmod 1777 "$tmp/bare/tmp" &&
		unshare --mount --pid --fork --mount-proc="$tmp/bare/proc" chroot --userspec=65534:65534 "$tmp/bare" /opt/bin/trailcam run --source step \
		-t table_grow -o /tmp/capable.fxt.gz -- /bin/wordcount >"$tmp/out" 2>"$tmp/err" && says "$tmp/err" 'hit table_grow' || {
		cat "$tmp/err"
		return 1
	}
}

if [ "$(id -u)" != 0 ]; then
	skip 'the archive, unpacked' 'it takes root'
else
	check 'make tarball: says which libc it needs, and that is documented' unpacks
	check 'the archive: needs a libc and what is in it' links_to_libc_only
	check_in 'the archive' "$tmp/bare" /opt/bin/trailcam
	check_hardened 'the archive' "$tmp/bare/opt"
	if bpf_missing; then
		skip 'the archive, with file capabilities' "$bpf_reason"
	else
		check 'the archive, with file capabilities' capable
	fi
fi

# --- an image, as docs/containers.md says; its base is the root with a libc, so that nothing is downloaded

podman_flags="--ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --network=none --log-driver=none"
export CONTAINERS_CONF="$tmp/containers.conf"
printf '[engine]\ncgroup_manager="cgroupfs"\nevents_logger="file"\n' >"$CONTAINERS_CONF"
base=localhost/trailcam-test-base image=localhost/trailcam-test

# image_recipe NAME: its line, with what this test's machines need besides.
image_recipe() {
	awk -v name="$1" '$0 == "<!-- recipe: " name " -->" { on = 1 } on && /^    / { print; exit }' docs/containers.md |
		sed "s,localhost/trailcam,$image,; s,build/,$BUILD/,; s,podman build,podman --runtime runc build --build-arg BASE=$base,
			s,podman run,podman --runtime runc run $podman_flags,; s,marker -- /bin/server mark,table_grow -- /bin/wordcount,; s/sudo //"
}

runs_in_image() {
	image_recipe image >"$tmp/recipe" && sh -e "$tmp/recipe" >"$tmp/out" 2>&1 && image_recipe image-run >"$tmp/recipe" &&
		sh -e "$tmp/recipe" >"$tmp/out" 2>"$tmp/err" </dev/null && says "$tmp/out" 'different words' && says "$tmp/err" 'hit table_grow' || {
		cat "$tmp/recipe" "$tmp/out" "$tmp/err"
		return 1
	}
}

if ! command -v podman >/dev/null; then
	skip 'the image' 'podman is not installed'
elif bpf_missing; then
	skip 'the image' "$bpf_reason"
elif ! tar -C "$tmp/bare" --exclude=./opt --exclude='./proc/*' --exclude='./tmp/*' --exclude=./etc -c . | podman import - $base >"$tmp/podman.err" 2>&1 ||
	# shellcheck disable=SC2086
	! podman --runtime runc run --rm $podman_flags $base /bin/wordcount </dev/null >"$tmp/podman.err" 2>&1; then
	skip 'the image' "podman runs no container here: $(tail -1 "$tmp/podman.err")"
else
	check 'the image: is built, and a trigger is hit in it' runs_in_image
fi
command -v podman >/dev/null && podman rmi -f $image $base >/dev/null 2>&1

if command -v lintian >/dev/null; then
	check 'lintian has no complaint' lintian --allow-root --fail-on warning --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$deb"
else
	skip 'lintian' 'it is not installed'
fi
finish
