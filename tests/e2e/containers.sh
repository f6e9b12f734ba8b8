#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Containers and the least privilege in them: the recipes of docs/containers.md are run as they stand there.
. tests/e2e/lib.sh
containers=
trap 'for id in $containers; do runc delete -f $id; done >/dev/null 2>&1; rm -rf "$tmp"' EXIT

if bpf_missing; then
	skip 'triggers in containers' "$bpf_reason"
	finish
fi

chmod 755 "$tmp"
mkdir -p "$tmp/bin" "$tmp/work" && chmod 777 "$tmp/work"
cp "$trailcam" "$tmp/bin/trailcam" && cp "$programs/exits" "$tmp/bin/server"

# recipe NAME: its lines, with the paths that hold here.
recipe() {
	awk -v name="$1" '$0 == "<!-- recipe: " name " -->" { on = 1; next } on && /^    / { print substr($0, 5); seen = 1; next }
		on && seen && !/^$/ { exit }' docs/containers.md |
		sed "s,/usr/local/bin/trailcam,$tmp/bin/trailcam,g; s, server , $tmp/bin/server ,g; s,--rootfs rootfs,--rootfs $tmp/rootfs,; s/^sudo //"
}

# Runs a recipe that ends in a hit; the program's exit status is 5.
hits_by() {
	recipe "$1" >"$tmp/recipe" && [ -s "$tmp/recipe" ] || return 1
	(cd "$tmp/work" && status_is 5 sh -e "$tmp/recipe" >"$tmp/out" 2>"$tmp/err" </dev/null) && says "$tmp/out" 'after the mark' &&
		says "$tmp/err" 'hit marker' || {
		cat "$tmp/recipe" "$tmp/err"
		return 1
	}
}

# env: setpriv itself keeps capabilities until it execs.
by_setcap() {
	cp "$trailcam" "$tmp/bin/capable" && recipe setcap | sed "s,bin/trailcam,bin/capable,; s,^$tmp/bin/capable,setpriv --reuid 65534 \
--regid 65534 --clear-groups env $tmp/bin/capable,; s,exits mark,exits mark," >"$tmp/recipe" &&
		(cd "$tmp/work" && status_is 5 sh -e "$tmp/recipe" >"$tmp/out" 2>"$tmp/err" </dev/null) && says "$tmp/err" 'hit marker' || {
		cat "$tmp/recipe" "$tmp/err"
		return 1
	}
}
check 'setcap: a plain user' by_setcap
check 'setcap: doctor agrees' setpriv --reuid 65534 --regid 65534 --clear-groups env "$tmp/bin/capable" doctor

check 'mount, pid, net, ipc and uts namespaces' hits_by unshare

# Process numbers are the namespace's own, and the hit is on the right thread: the probed instruction is its
# last one.
own_numbers() {
	unshare --mount --pid --fork --mount-proc "$trailcam" run --source step -t thread_main --keep-recording "$tmp/rec" -o "$tmp/t.tsv" -- \
		"$programs/torture" probed >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] || return 1
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
	tid=$(awk '$1 == "tid" { print $2; exit }' "$tmp/hits")
	[ "$tid" -lt 1000 ] && "$trailcam" dump --instructions "$tmp/rec" | awk -v tid="$tid" '$1 == tid { last = $2 } END { print last }' \
		>"$tmp/last" && says "$tmp/last" "$(awk '$1 == "rip" { print substr($2, 3); exit }' "$tmp/hits")"
}
check 'a pid namespace: its own numbers, the hit on the right thread' own_numbers

none_in_namespace() {
	unshare --pid --fork --mount-proc "$trailcam" run --source none -t marker --when 'pid < 1000 && tid == pid' -o "$tmp/t.tsv" -- \
		"$programs/exits" mark >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 5 ] && says "$tmp/err" 'hit marker'
}
check 'a pid namespace: conditions on pid and tid' none_in_namespace

# A process of a namespace below ours, beside one of ours.
cat >"$tmp/below" <<'END'
trailcam=$1 programs=$2 tmp=$3
until_says() {
	until grep -q "$2" "$1"; do sleep 0.05; done
}
mkfifo "$tmp/below.in" "$tmp/beside.in"
"$programs/server" <>"$tmp/beside.in" >"$tmp/beside.out" &
beside=$!
unshare --pid --fork "$programs/server" <>"$tmp/below.in" >"$tmp/below.out" &
until_says "$tmp/below.out" ready && until_says "$tmp/beside.out" ready
below=$(cat /proc/$!/task/$!/children)
below=${below% }
"$trailcam" attach -v --source none -p $below -p $beside -t handle --when "pid == $below && tid == pid" --keep-recording "$tmp/below.rec" \
	-o "$tmp/below.tsv" 2>"$tmp/err" &
attached=$!
until_says "$tmp/err" 'debug: attached'
echo work >"$tmp/beside.in"
until_says "$tmp/beside.out" work
echo work >"$tmp/below.in"
wait $attached || exit 1
echo quit >"$tmp/below.in"
echo quit >"$tmp/beside.in"
wait
"$trailcam" dump --hits "$tmp/below.rec" | awk -v pid="$below" '$1 == "pid" || $1 == "tid" { cnt++; wrong += $2 != pid } END { exit cnt != 2 || wrong }'
END
numbers_below() {
	timeout -s KILL 100 unshare --mount --pid --fork --mount-proc --kill-child sh "$tmp/below" "$trailcam" "$programs" "$tmp"
}
check 'a pid namespace below: the numbers that we see' numbers_below

in_user_namespace() {
	unshare --user --map-root-user "$trailcam" run -t marker -o "$tmp/t.tsv" -- "$programs/exits" mark >/dev/null 2>"$tmp/err"
	[ $? -eq 125 ] && says "$tmp/err" 'user namespace'
}
samples_in_user_namespace() {
	unshare --user --map-root-user "$trailcam" run --source samples -o "$tmp/t.tsv" -- "$programs/exits" mark >/dev/null 2>"$tmp/err"
	[ $? -eq 5 ] && says "$tmp/err" 'that needs CAP_BPF and CAP_PERFMON in the initial user namespace' && [ -s "$tmp/t.tsv" ]
}
if unshare --user --map-root-user true 2>/dev/null; then
	check 'a user namespace: says that BPF is refused there' in_user_namespace
	check 'a user namespace: samples do without BPF' samples_in_user_namespace
else
	skip 'a user namespace' 'they are not allowed here'
fi

# --- OCI

# A root file system with the two programs and what they need.
make_rootfs() {
	root=$tmp/rootfs
	mkdir -p "$root/bin" "$root/tmp" "$root/proc" "$root/dev" "$root/sys" && chmod 1777 "$root/tmp" || return 1
	cp "$trailcam" "$programs/server" "$programs/exits" "$root/bin/"
	for file in $(ldd "$trailcam" "$programs/server" | grep -o '/[^ ]*' | grep -v ':$' | sort -u); do
		mkdir -p "$root/${file%/*}" && cp -L "$file" "$root/$file" || return 1
	done
	cp "$programs/exits" "$root/bin/marker-server"
}

# oci NAME ARGS: a bundle whose process is ARGS (JSON), with the rights of the recipe
oci() {
	mkdir -p "$tmp/$1" && cat >"$tmp/$1/config.json" <<-EOF
		{ "ociVersion": "1.0.2", "root": { "path": "$tmp/rootfs", "readonly": false },
		  "process": { "terminal": false, "cwd": "/tmp", "env": ["PATH=/bin"], "args": $2,
		    $(recipe runc) },
		  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" },
		    { "destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"] } ],
		  "linux": { "namespaces": [ { "type": "pid" }, { "type": "mount" }, { "type": "network" }, { "type": "ipc" }, { "type": "uts" } ] } }
	EOF
}

in_runc() {
	oci one '["/bin/trailcam", "run", "-t", "marker", "-o", "/tmp/t.fxt.gz", "--", "/bin/exits", "mark"]' || return 1
	containers="$containers trailcam-one"
	status_is 5 runc run --bundle "$tmp/one" trailcam-one >"$tmp/out" 2>"$tmp/err" </dev/null && says "$tmp/err" 'hit marker' &&
		test -s "$tmp/rootfs/tmp/t.fxt.gz"
}

doctor_in_runc() {
	oci two '["/bin/trailcam", "doctor"]' || return 1
	containers="$containers trailcam-two"
	runc run --bundle "$tmp/two" trailcam-two >"$tmp/out" 2>"$tmp/err" </dev/null && says "$tmp/out" 'main job works here'
}

samples_in_runc() {
	oci four '["/bin/trailcam", "run", "--source", "samples", "-t", "marker", "-o", "/tmp/t.tsv", "--", "/bin/exits", "mark"]' || return 1
	containers="$containers trailcam-four"
	status_is 5 runc run --bundle "$tmp/four" trailcam-four >"$tmp/out" 2>"$tmp/err" </dev/null && says "$tmp/err" 'hit marker' &&
		! grep 'without BPF' "$tmp/err" && says "$tmp/rootfs/tmp/t.tsv" marker
}

# The host's trailcam, on a process that has other files, another user and another number.
into_runc() {
	oci three '["/bin/server"]' || return 1
	containers="$containers trial-three"
	mkfifo "$tmp/in" && (runc run --bundle "$tmp/three" trial-three <>"$tmp/in" >"$tmp/out" 2>&1 &)
	wait_for "$tmp/out" ready
	recipe attach | sed "s,--container trial,-v --container trial-three -o t.tsv --keep-recording $tmp/three.rec," >"$tmp/recipe"
	(cd "$tmp/work" && sh -e "$tmp/recipe" >"$tmp/err" 2>&1 && : >"$tmp/done") &
	wait_for "$tmp/err" 'debug: attached'
	echo work >"$tmp/in"
	wait_until test -e "$tmp/done"
	echo quit >"$tmp/in"
	[ -e "$tmp/done" ] && says "$tmp/err" 'hit handle' || {
		cat "$tmp/err" "$tmp/out"
		return 1
	}
	"$trailcam" dump --hits "$tmp/three.rec" >"$tmp/hits" || return 1
	grep -q '  comm server' "$tmp/hits" && [ "$(awk '$1 == "pid" { print $2 }' "$tmp/hits")" -gt 10 ]
}

if ! command -v runc >/dev/null; then
	skip 'runc' 'it is not installed'
elif ! make_rootfs || ! oci probe '["/bin/exits", "none"]' || ! runc run --bundle "$tmp/probe" trailcam-probe >"$tmp/runc.err" 2>&1 </dev/null; then
	skip 'runc' "it runs no container here: $(tail -1 "$tmp/runc.err")"
else
	check 'runc: uid 65534, no_new_privs, two capabilities, no tracefs' in_runc
	check 'runc: doctor' doctor_in_runc
	check 'runc: samples by BPF' samples_in_runc
	if runc events --stats trailcam-none >/dev/null 2>&1 || grep -q : /proc/self/cgroup; then
		check 'from the host into a container' into_runc
	fi
fi

# --- podman

podman_flags="--runtime runc --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --network=none --log-driver=none"
export CONTAINERS_CONF="$tmp/containers.conf"
printf '[engine]\ncgroup_manager="cgroupfs"\nevents_logger="file"\n' >"$CONTAINERS_CONF"

# The recipe, with what this test's machines need besides.
podman_recipe() {
	recipe podman | sed "s,podman run,podman --runtime runc run ${podman_flags#--runtime runc},; s,/bin/server,/bin/exits,"
}

in_podman() {
	podman_recipe >"$tmp/recipe"
	(cd "$tmp/work" && status_is 5 sh -e "$tmp/recipe" >"$tmp/out" 2>"$tmp/err" </dev/null) && says "$tmp/out" 'after the mark' || {
		cat "$tmp/recipe" "$tmp/err"
		return 1
	}
}

in_podman_default() {
	podman_recipe | sed 's/--security-opt seccomp=unconfined//' >"$tmp/recipe"
	(cd "$tmp/work" && sh -e "$tmp/recipe" >"$tmp/out" 2>"$tmp/err" </dev/null)
	[ $? -eq 125 ] && grep -q 'seccomp' "$tmp/err" "$tmp/out"
}

if ! command -v podman >/dev/null; then
	skip 'podman' 'it is not installed'
elif [ ! -d "$tmp/rootfs" ] || ! podman_recipe | sed 's,/bin/trailcam.*,/bin/exits none,' | sh >"$tmp/podman.err" 2>&1 </dev/null; then
	skip 'podman' "it runs no container here: $(tail -1 "$tmp/podman.err")"
else
	check 'podman with a seccomp profile that lets bpf(2) through' in_podman
	check 'podman with its own profile: the filter is named, not the capabilities' in_podman_default
fi
finish
