#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# trailcam view: the page in a headless browser, and the trace for Perfetto over HTTP.
. tests/e2e/lib.sh
unset DISPLAY WAYLAND_DISPLAY BROWSER
export TMPDIR="$tmp"

# in_browser KIND PAGE...: what tests/e2e/view.py checks there, when all pages are made.
in_browser() {
	if command -v chromium >/dev/null; then
		pages="${pages:+$pages -- }$*"
	else
		skip "the page of a $1 trace" 'chromium is not installed'
	fi
}
pages=

# --- pages

if bpf_missing; then
	skip 'the page of a recording with hits' "$bpf_reason"
	"$trailcam" run --source step --step-from main --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- "$programs/wordcount" >/dev/null 2>&1
else
	"$trailcam" run --source step --step-from main -t table_find --max-hits 3 --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- "$programs/wordcount" \
		>/dev/null 2>&1
	"$trailcam" dump --slices "$tmp/rec" >"$tmp/slices"
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
	check 'view -o' "$trailcam" view -o "$tmp/page.html" "$tmp/rec"
	in_browser recording "$tmp/page.html" "$tmp/slices" "$tmp/hits"
	if command -v firefox-esr >/dev/null; then
		PYTHONDONTWRITEBYTECODE=1 timeout 500 python3 tests/e2e/firefox.py "$tmp/page.html" "$tmp/slices" || failures=$((failures + 1))
	else
		skip 'the page in Firefox' 'firefox-esr is not installed'
	fi
	"$trailcam" run --source step --step-from main -t table_find --skip 4 --max-hits 2 --keep-recording "$tmp/rec2" -o "$tmp/t2.fxt" -- "$programs/wordcount" \
		>/dev/null 2>&1
	"$trailcam" dump --slices "$tmp/rec2" >"$tmp/slices2"
	"$trailcam" report --json --top 100000 --diff "$tmp/t2.fxt" "$tmp/rec" >"$tmp/report.json"
	check 'view --diff' "$trailcam" view --diff "$tmp/t2.fxt" -o "$tmp/diff.html" "$tmp/rec"
	in_browser compared "$tmp/diff.html" "$tmp/slices" "$tmp/slices2" "$tmp/report.json"
	"$trailcam" run --source none -t table_grow --keep-recording "$tmp/alone" -o "$tmp/alone.html" -- "$programs/wordcount" \
		>/dev/null 2>&1
	"$trailcam" dump --hits "$tmp/alone" >"$tmp/alone.hits"
	in_browser alone "$tmp/alone.html" "$tmp/alone.hits"
fi

without_display() {
	"$trailcam" view "$tmp/rec" 2>"$tmp/err" || return 1
	page=$(sed -n 's/^trailcam: wrote \(.*\.html\): .* open it in a browser$/\1/p' "$tmp/err")
	[ -n "$page" ] && grep -q '^<!doctype html>' "$page"
}
check 'without a display it says where the page is' without_display

with_browser() {
	printf '#!/bin/sh\necho "$1" >"%s/opened"\n' "$tmp" >"$tmp/browser"
	chmod +x "$tmp/browser"
	BROWSER="$tmp/browser" "$trailcam" view -o "$tmp/page.html" "$tmp/rec" && wait_for "$tmp/opened" "$tmp/page.html"
}
check '$BROWSER is told the page' with_browser

same_page() {
	"$trailcam" decode "$tmp/rec" -o "$tmp/decoded.html" && cmp "$tmp/page.html" "$tmp/decoded.html"
}
check 'decode -o writes the same page' same_page

# The signal waits from before the program begins.
interrupted() {
	status_is 130 setsid env --default-signal=INT --block-signal=INT \
		sh -c 'kill -INT $$; exec "$@"' - "$trailcam" view -o "$tmp/never.html" "$tmp/rec" 2>"$tmp/err" &&
		says "$tmp/err" 'interrupted' && [ ! -e "$tmp/never.html" ]
}
check 'Ctrl-C while it decodes: no page' interrupted

refused() {
	status_is "$1" "$trailcam" view $2 2>"$tmp/err" && says "$tmp/err" "$3"
}
check 'no file' refused 2 '' 'no recording given'
check 'no name for a page' refused 2 "-o x.fxt $tmp/rec" 'must end in .html'
check '--diff in another viewer' refused 2 "--perfetto --diff x.fxt $tmp/rec" '--diff makes a page'
check 'nothing to compare with' refused 1 "--diff $tmp/nothing -o $tmp/never.html $tmp/rec" "$tmp/nothing"
check 'nothing that can be shown' refused 1 README.md 'README.md'
check 'no such file' refused 1 "--perfetto $tmp/nothing" "cannot read $tmp/nothing"

strange_names() {
	name='<img src=x onerror="window.bad=1"></script><!-- \377&amp;'
	printf ' 7/7 1.000000100: 1 branches:u: call 1000 main+0x0 (/x) => 2000 %b+0x0 (/x)\n' "$name"
	printf ' 7/7 1.000000900: 1 branches:u: return 2005 %b+0x5 (/x) => 1005 main+0x5 (/x)\n' "$name"
	printf ' 7/7 1.000000200: 1000 cycl<b>es:u: 2000 %b+0x0 (/x)\n' "$name"
	printf ' 7/7 1.000000800: 500 cycl<b>es:u: 2002 %b+0x2 (/x)\n' "$name"
	echo ' instruction trace error type 1 time 1.000000950 cpu 0 pid 7 tid 7 ip 0x1005 code 8: Lost <b>trace</b> data'
	printf ' 7/7 1.000001000: 1 branches:u: call 1010 main+0x10 (/x) => 3000 last+0x0 (/x)\n'
	printf ' 7/7 1.000001100: 1 branches:u: return 3005 last+0x5 (/x) => 1015 main+0x15 (/x)\n'
}
strange_names >"$tmp/strange.txt"
check 'names that are markup' "$trailcam" view -o "$tmp/strange.html" "$tmp/strange.txt"
in_browser strange "$tmp/strange.html"

# --- allocations

if ! bpf_missing; then
	"$trailcam" run --source step --step-from main -t table_grow --skip 1 --memtrace=1 -o "$tmp/allocations.html" -o "$tmp/allocations.json" -- "$programs/wordcount" \
		>/dev/null 2>&1
	in_browser allocations "$tmp/allocations.html" "$tmp/allocations.json"
fi

# 301 calls of a function, all but the first by itself, and what the last one calls; this by way of its stub, too.
recursion() {
	awk 'BEGIN {
		for (i = 0; i < 302; i++)
			printf "7/7 1.%09d: 1 branches:u: call %x %s+0x10 (/x) => %x %s+0x0 (/x)\n", i * 10, address(who(i)) + 16, who(i), address(who(i + 1)), who(i + 1)
		for (i = 302; i > 0; i--)
			printf "7/7 1.%09d: 1 branches:u: return %x %s+0x8 (/x) => %x %s+0x15 (/x)\n", 10000 - i * 10, address(who(i)) + 8, who(i), address(who(i - 1)) + 21, who(i - 1)
		once("last@plt", 10010, 10030)
		once("last", 10040, 10070)
	}
	function once(name, from, to) {
		printf "7/7 1.%09d: 1 branches:u: call %x main+0x20 (/x) => %x %s+0x0 (/x)\n", from, address("main") + 32, address(name), name
		printf "7/7 1.%09d: 1 branches:u: return %x %s+0x8 (/x) => %x main+0x25 (/x)\n", to, address(name) + 8, name, address("main") + 37
	}
	function who(i) { return !i ? "main" : i < 302 ? "again" : "last" }
	function address(name) { return name == "main" ? 4096 : name == "again" ? 8192 : name == "last" ? 12288 : 16384 }'
}
recursion >"$tmp/recursion.txt"
check 'recursion' "$trailcam" view -o "$tmp/recursion.html" "$tmp/recursion.txt"
in_browser recursion "$tmp/recursion.html"

# Each round: a call of a function with nine calls in it. One more is main.
long_trace() {
	awk 'BEGIN {
		for (i = 0; i < 100000; i++) {
			call("main", "work")
			for (j = 0; j < 9; j++) {
				call("work", "leaf" j)
				back("leaf" j, "work")
			}
			back("work", "main")
		}
	}
	function line(kind, from, offset, to, at) {
		ns += 10 + ns % 7
		printf "7/7 %d.%09d: 1 branches:u: %s %x %s+0x%x (/x) => %x %s+0x%x (/x)\n", 1 + ns / 1e9, ns % 1e9, kind,
			address(from) + offset, from, offset, address(to) + at, to, at
	}
	function address(name) { return name == "main" ? 4096 : name == "work" ? 8192 : 12288 + substr(name, 5) * 256 }
	function call(from, to) { line("call", from, 16, to, 0) }
	function back(from, to) { line("return", from, 8, to, 21) }'
}
long_trace >"$tmp/long.txt"
check 'a million calls' "$trailcam" view -o "$tmp/long.html" "$tmp/long.txt"
rm "$tmp/long.txt"
in_browser long "$tmp/long.html" 1000001
# shellcheck disable=SC2086 # a list of words
[ -z "$pages" ] || PYTHONDONTWRITEBYTECODE=1 python3 tests/e2e/view.py $pages || failures=$((failures + 1))

# --- Perfetto

if python3 -c 'import socket; socket.create_connection(("127.0.0.1", 9001), 1)' 2>/dev/null; then
	skip 'view --perfetto' 'port 9001 is in use'
	finish
fi

serve() {
	rm -f "$tmp/link"
	setsid env --default-signal=INT "$trailcam" view --perfetto "$1" >"$tmp/link" 2>"$tmp/serve.err" &
	server=$!
	wait_for "$tmp/link" 'https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001/'
}

# fetch METHOD NAME STATUS FILE: what the viewer would ask for, and the status it should get; a body goes to
# FILE.
fetch() {
	python3 -c '
import http.client, sys
method, name, status, path = sys.argv[1:]
connection = http.client.HTTPConnection("127.0.0.1", 9001)
connection.request(method, name, headers={"Origin": "https://ui.perfetto.dev"})
answer = connection.getresponse()
body = answer.read()
assert answer.status == int(status), answer.status
assert answer.headers["Access-Control-Allow-Origin"] == "https://ui.perfetto.dev", answer.headers
assert bool(body) == (method == "GET" and status == "200"), body
open(path, "wb").write(body)' "$1" "/$(sed -n 's,.*127.0.0.1:9001/\([0-9a-f]\{16\}\)/.*,\1,p' "$tmp/link")/$2" "$3" "$4"
}

# A page that gave itself the name of this machine asks for it.
elsewhere() {
	python3 -c '
import http.client
connection = http.client.HTTPConnection("127.0.0.1", 9001)
connection.request("GET", "/rec.fxt.gz", headers={"Host": "evil.example:9001"})
assert connection.getresponse().status == 403'
}

recording_is_served() {
	serve "$tmp/rec" || return 1
	fetch OPTIONS rec.fxt.gz 204 /dev/null && fetch HEAD rec.fxt.gz 200 /dev/null && fetch GET other 404 /dev/null && fetch GET ../rec.fxt.gz 404 /dev/null && elsewhere &&
		fetch GET ../rec/data 404 /dev/null && fetch POST rec.fxt.gz 405 /dev/null && fetch GET rec.fxt.gz 200 "$tmp/fetched.gz" || return 1
	status_is 0 wait $server && "$trailcam" decode "$tmp/rec" -o "$tmp/again.fxt" 2>/dev/null &&
		gzip -dc "$tmp/fetched.gz" | cmp - "$tmp/again.fxt" &&
		[ -z "$(find "$tmp" -name 'rec.fxt.gz')" ]
}
check 'a recording is served once' recording_is_served
[ ! -s "$tmp/hits" ] || check 'the link opens it at the hit' says "$tmp/link" "&ts=$(awk '$1 == "time_ns" { print $2; exit }' "$tmp/hits")&dur=0"

trace_is_served() {
	cp "$tmp/t.fxt" "$tmp/a b.fxt" && serve "$tmp/a b.fxt" && fetch GET a_b.fxt 200 "$tmp/fetched" && status_is 0 wait $server &&
		cmp "$tmp/fetched" "$tmp/t.fxt"
}
check 'a trace is served as it is' trace_is_served

# More than a browser opens, and none of them asks for anything.
idle_connections() {
	serve "$tmp/t.fxt" || return 1
	python3 -c '
import socket, subprocess, sys, time
connections = [socket.create_connection(("127.0.0.1", 9001)) for _ in range(40)]
time.sleep(1)
children = subprocess.run(["pgrep", "-c", "-P", sys.argv[1]], capture_output=True, text=True).stdout
assert 0 < int(children) <= 16, children' $server && fetch GET t.fxt 200 "$tmp/fetched" && status_is 0 wait $server
}
check 'idle connections: few processes, and the trace is served' idle_connections

port_in_use() {
	serve "$tmp/t.fxt" || return 1
	refused 1 "--perfetto $tmp/t.fxt" 'port 9001 of 127.0.0.1' || return 1
	kill -INT $server
	status_is 130 wait $server
}
check 'one at a time; Ctrl-C ends it' port_in_use
kill $server 2>/dev/null

finish
