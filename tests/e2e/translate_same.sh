#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Real programs do the same translated as natively: the same output, files and exit status. Programs that are
# not installed are left out. SAME=all: all of them; else those that take little time. SAME=NAME: this one.
. tests/e2e/lib.sh
at=$PWD

# same NAME COMMAND: a shell command, in which $T stands before what is to be translated, leaves the same in
# its folder, and says and returns the same.
same() {
	name=$1
	for way in native translated; do
		mkdir -p "$tmp/$name/$way"
		[ $way = native ] && T='' || T="$trailcam run -q --source translate -o $tmp/out.fxt.gz --"
		(cd "$tmp/$name/$way" && T=$T timeout "${LIMIT:-500}" sh -c "$2" >stdout 2>stderr </dev/null
		echo $? >status)
	done
	# Said of the trace. That something went on natively would be a difference.
	sed -i '/^trailcam: warning: .* calls deeper than/d; /^trailcam: warning: .* functions that it made itself/d' "$tmp/$name/translated/stderr"
	diff -r "$tmp/$name/native" "$tmp/$name/translated" >"$tmp/$name.diff" && rm -r "${tmp:?}/$name"
	[ ! -s "$tmp/$name.diff" ] || {
		head -5 "$tmp/$name.diff"
		return 1
	}
}

# try NAME PROGRAM COMMAND
try() {
	case ${SAME:-all} in
	all | "$1") ;;
	*) return ;;
	esac
	command -v "$2" >/dev/null || {
		skip "$1" "there is no $2"
		return
	}
	check "$1" same "$1" "$3"
}

python=/usr/bin/python3
cat user/stacks/*.c >"$tmp/text"
export at tmp python programs

try ls ls '$T ls -lR "$at/user/base"'
try sort sort '$T sort -u "$tmp/text"; $T sort --parallel=2 -S 1M "$tmp/text" | md5sum'
try sed sed '$T sed -e "s/struct \([a-z_]*\)/<\1>/g" -e "/^$/d" "$tmp/text"'
try awk awk '$T awk "{ for (i = 1; i <= NF; i++) n[\$i]++ } END { for (w in n) if (n[w] > 20) print w, n[w] }" "$tmp/text" | sort'
try grep grep '$T grep -nE "(struct|enum) [a-z]+_[a-z]+ \{" "$tmp/text"; $T grep -P "^\s+(?=return)" "$tmp/text" | wc -l'
try find find '$T find "$at/user/base" -name "*.h" -exec wc -l {} +'
try tar tar '$T tar -cf a.tar --sort=name --mtime=@0 -C "$at" user/base; $T tar -tvf a.tar; mkdir x; $T tar -xf a.tar -C x'
try gzip gzip 'cp "$tmp/text" a; $T gzip -9n a; $T gzip -dc a.gz | md5sum'
try bash bash '$T bash -c "set -m; sleep 0.2 & jobs; wait; x=\$(seq 100 | while read -r i; do echo \$((i * i)); done | tail -1); echo \$x; trap \"echo usr1\" USR1; kill -USR1 \$\$; (exit 3); echo \$?"'
try exits false '$T false; $T sh -c "exit 42"; echo $?; exit 7'
try perl perl '$T perl -e "my %h; while (<>) { \$h{\$_}++ for /\w+/g } print join(q( ), map { qq(\$_=\$h{\$_}) } sort keys %h), qq(\n); eval { die qq(x\n) }; print \$@; local \$SIG{ALRM} = sub { print qq(alarm\n) }; alarm 1; sleep 3" "$tmp/text"'
try python python3 '$T $python -c "
import threading, subprocess, signal, os, re, json, zlib, hashlib, sqlite3
out = []
def work(n):
    out.append((n, hashlib.sha256(str([i * n for i in range(3000)]).encode()).hexdigest()))
ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in ts]
[t.join() for t in ts]
print(sorted(out))
print(subprocess.run([\"echo\", \"child\"], capture_output=True).stdout)
signal.signal(signal.SIGUSR1, lambda *a: print(\"usr1\"))
os.kill(os.getpid(), signal.SIGUSR1)
print(len(re.findall(r\"\\w+\", open(os.environ[\"tmp\"] + \"/text\").read())))
pid = os.fork()
if not pid:
    print(\"forked\", flush=True)
    os._exit(4)
print(os.waitpid(pid, 0)[1])
"'
try gcc gcc '$T gcc -O1 -c -I"$at" -I"$at/user" -D_GNU_SOURCE "$at/user/base/sort.c" -o sort.o'
try openssl openssl '$T openssl dgst -sha512 <"$tmp/text"; $T openssl enc -aes-256-cbc -pbkdf2 -nosalt -k x <"$tmp/text" | md5sum; $T openssl prime -generate -bits 64 >/dev/null; $T openssl speed -seconds 1 sha256 >/dev/null 2>&1; echo $?'
try xz xz '$T xz -1 -T2 --block-size=20000 -c "$tmp/text" >a.xz; $T xz -dc a.xz | md5sum'
try sqlite3 sqlite3 '$T sqlite3 a.db "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) insert into t select x, x * 7919 % 10007 from c; create index i on t(b); select count(*), sum(a) from t where b between 100 and 5000;"'
try git git 'mkdir r; cd r; export GIT_AUTHOR_DATE="2000-01-01T00:00:00Z" GIT_COMMITTER_DATE="2000-01-01T00:00:00Z" GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; $T git init -q -b x; cp "$tmp/text" a; $T git add a; $T git commit -qm one; echo >>a; $T git diff; $T git commit -qam two; $T git log -p | md5sum; $T git fsck --no-progress; rm -rf .git'
try make make 'printf "all: a b c d\n%%:\n\t@sleep 0.1; echo \$@ >\$@\n" >Makefile; $T make -s -j2; cat a b c d'
# Programs that make code while they run.
try luajit luajit '$T luajit "$at/tests/programs/src/works.lua"'
try node node '$T node "$at/tests/programs/src/works.js"'

if [ -n "${SAME:-}" ]; then
	LIMIT=400
	try cc1 gcc '$T "$(gcc -print-prog-name=cc1)" -quiet -O2 -D_GNU_SOURCE -I"$at" -I"$at/user" "$at/user/stacks/rules.c" -o rules.s'
	try java javac 'javac -d . "$at/tests/programs/src/Works.java"; $T java -Xmx64m -cp . Works; rm ./*.class'
	try zstd zstd '$T zstd -q -19 -T2 "$tmp/text" -o a.zst; $T zstd -dc a.zst | md5sum'
	try pigz pigz '$T pigz -p2 -nc "$tmp/text" | md5sum'
	try rustc rustc 'printf "fn main() { let v: Vec<u64> = (1..10).collect(); println!(\"{:?}\", v); let r = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(1))); println!(\"{}\", r.is_err()); std::thread::spawn(|| println!(\"t\")).join().unwrap(); }" >a.rs; rustc -O a.rs; $T ./a; rm a'
	try go go 'cp "$at"/tests/programs/src/goroutines.go .; GOCACHE=$tmp/gocache go build -o a goroutines.go; $T ./a | sed "s/goroutine [0-9]*/goroutine/"; rm a'
	try 'go server' go 'cp "$at"/tests/programs/src/serves.go .; GOCACHE=$tmp/gocache go build -o a serves.go; $T ./a; rm a'
	try 'perl modules' perl '$T perl -MPOSIX=floor -MList::Util=sum,shuffle -MEncode -MStorable=dclone -MDigest::SHA=sha256_hex -MTime::Local -MData::Dumper -e "
		\$Data::Dumper::Sortkeys = 1; my \$d = { a => [1 .. 50], b => { c => q(x) x 20 } };
		print Dumper(dclone(\$d)), sha256_hex(Encode::encode(q(UTF-8), chr(9731) x 100)), qq(\n), floor(7.9), sum(1 .. 1000), qq(\n);
		my @s = sort { \$a <=> \$b } map { \$_ * 7919 % 10007 } 1 .. 20000; print qq(@s[0 .. 9]\n);
		my \$n = 0; \$n++ while (q(abcabcabd) x 500) =~ /a(?:b(?=c)|b(?!c))./g; print qq(\$n\n);
		if (my \$pid = fork) { waitpid \$pid, 0; print \$? >> 8, qq(\n) } else { exit 5 }"'
	try imagemagick convert-im6.q16 '$T convert-im6.q16 -size 120x90 gradient:red-blue -swirl 90 -blur 0x2 -resize 200% a.ppm; $T convert-im6.q16 a.ppm -quality 80 a.jpg; md5sum a.ppm a.jpg'
	try ffmpeg ffmpeg 'for codec in mpeg4 libx264 libvpx-vp9; do $T ffmpeg -v error -f lavfi -i testsrc=d=1:s=160x120:r=10 -threads 2 -c:v $codec -flags +bitexact -f md5 -; done'
	try gdb gdb '$T gdb -q -batch -nx -ex "break puts" -ex run -ex "info symbol \$rip" -ex delete -ex "stepi 100" -ex continue "$programs/torture" | sed "s/process [0-9]*/process/"'
	try nginx nginx 'mkdir w; cp "$tmp/text" w/t; printf "events {}\nhttp { access_log off; server { listen 127.0.0.1:18089; root %s/w; gzip on; gzip_types *; } }\n" "$PWD" >c; $T nginx -p "$PWD" -c "$PWD/c" -e "$PWD/e" -g "daemon off; master_process off; pid $PWD/p;" & for i in $(seq 3000); do curl -sf http://127.0.0.1:18089/t >/dev/null && break; sleep 0.1; done; for i in 1 2 3 4 5 6 7 8 9; do curl -s http://127.0.0.1:18089/t | md5sum; curl -s -H "Accept-Encoding: gzip" http://127.0.0.1:18089/t | md5sum; curl -s -o /dev/null -w "%{http_code}\n" http://127.0.0.1:18089/no; done; kill -QUIT "$(cat p)"; wait $!; echo $?; rm -r c w e'
	try postgres postgres '
		# It does not run as root.
		user="setpriv --reuid=65534 --regid=65534 --clear-groups"
		T=$(echo "$T" | sed "s:-o [^ ]*:-o /dev/null:")
		pg=$(mktemp -d) && chmod 777 "$pg"
		$user initdb -D "$pg/d" --no-sync --locale=C -A trust >/dev/null 2>&1
		cd /
		$user $T postgres --single -D "$pg/d" -j postgres <"$at/tests/programs/src/load.sql" 2>&1 | grep -v "LOG: " | sed "s/[-0-9]* [0-9:.]* UTC \[[0-9]*\]//"
		rm -r "$pg"'
	# A server with a process for each of its clients, which load it at the same time, and for parts of a query.
	try 'postgres clients' postgres '
		user="setpriv --reuid=65534 --regid=65534 --clear-groups"
		T=$(echo "$T" | sed "s:-o [^ ]*:--follow-forks -o /dev/null:")
		pg=$(mktemp -d) && chmod 777 "$pg"
		$user initdb -D "$pg/d" --no-sync --locale=C -A trust >/dev/null 2>&1
		cd /
		$user $T postgres -D "$pg/d" -k "$pg" -c listen_addresses= -c fsync=off >"$pg/log" 2>&1 & server=$!
		sql="psql -XqAt -h $pg -U nobody postgres"
		for i in $(seq 3000); do $sql -c "select 1" >/dev/null 2>&1 && break; sleep 0.1; done
		$sql -c "create table t(a int primary key, b int, c text)"
		clients=
		for n in 1 2 3 4; do
			$sql >"$pg/$n" 2>&1 <<-END & clients="$clients $!"
				begin; insert into t select i, i * 7 % 10007, md5(i::text) from generate_series(${n}0000, ${n}2999) i; commit;
				select count(*), sum(b), md5(string_agg(c, chr(44) order by a)) from t where a / 10000 = $n;
				select 1 / 0;
				do \$x\$ begin for i in 1 .. 500 loop begin if i % 50 = 0 then raise exception using message = i; end if; exception when others then null; end; end loop; end \$x\$;
			END
		done
		wait $clients
		cat "$pg"/[1-4]
		$sql -c "set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0; set parallel_setup_cost = 0; set parallel_tuple_cost = 0; select sum(length(c)), max(c), sum(b) from t"
		$sql -c "select pg_terminate_backend(pg_backend_pid())" 2>&1 | grep FATAL
		kill -INT "$(head -1 "$pg/d/postmaster.pid")"
		wait $server
		echo $?
		rm -r "$pg"'
	for module in test_json test_re test_threading test_subprocess test_signal test_zlib test_sqlite3 test_dict test_generators test_socket; do
		python3 -c "import test.$module" >/dev/null 2>&1 || {
			skip "python $module" 'there is no such module (libpython3.11-testsuite)'
			continue
		}
		try "python $module" python3 'cd /; $T $python -m test -q '$module' 2>&1 | grep -vE "load avg|duration|in [0-9.]+ (sec|ms)|^$"'
	done
	try redis redis-server '$T redis-server --port 16379 --save "" --daemonize no >/dev/null & for i in $(seq 3000); do redis-cli -p 16379 ping >/dev/null 2>&1 && break; sleep 0.1; done; redis-benchmark -p 16379 -q -n 5000 -c 10 -t set,get,lpush,zadd 2>&1 | grep -c "requests per second"; redis-cli -p 16379 dbsize; redis-cli -p 16379 shutdown nosave; wait'
fi
finish
