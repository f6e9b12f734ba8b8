#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The values of a hit: arguments where the probed place has them, by the notes of USDT probes and by Go's
# convention.
. tests/e2e/lib.sh
values=$programs/values

reason=
[ "$(id -u)" -eq 0 ] || reason='not root'
[ -z "$reason" ] || {
	skip 'values of hits' "$reason"
	finish
}

# hits STATUS TRIGGER OPTION... -- PROGRAM: runs it, and leaves the hits in $tmp/hits.
hits() {
	wanted=$1
	shift
	rm -rf "$tmp/rec"
	"$trailcam" run --source none --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -t "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	got=$?
	[ "$got" -eq "$wanted" ] || {
		echo "exit status $got, not $wanted"
		cat "$tmp/err"
		return 1
	}
	[ "$wanted" -ne 0 ] || "$trailcam" dump --hits "$tmp/rec" >"$tmp/hits"
}

# args VALUE...: all arguments of all hits, by name.
args() {
	awk '$1 ~ /^arg/ { printf "%s%s=%s", sep, $1, $2; sep = " " } END { print "" }' "$tmp/hits" >"$tmp/args"
	echo "$*" | diff - "$tmp/args"
}

# values_are LINE...: what was printed of all hits.
values_are() {
	sed -n 's/^  value //p' "$tmp/hits" >"$tmp/values"
	printf '%s\n' "$@" | diff - "$tmp/values"
}

# --- USDT probes

usdt() {
	hits 0 usdt:values:kinds --skip 1 -- "$values" &&
		grep -v arg9 "$tmp/hits" >"$tmp/rest" && mv "$tmp/rest" "$tmp/hits" &&
		args arg0=0xfffffffffffffff7 arg1=0xfffffffffffffff9 arg2=0xfffffffffffffc16 arg3=0x1122334455667788 arg4=0xfa arg6=0x8001 arg7=0x2 \
			arg8=0x11f71fb04cb
}
check 'USDT: constants, registers and memory, as wide as the note says' usdt

usdt_when() {
	hits 0 usdt:values:kinds --when 'arg0 == -9 && arg1 == -7 && arg2 == -1002 && arg4 == 250 && arg7 == 2 && *arg9 == arg3' -- "$values" &&
		grep -q '^  arg7 0x2$' "$tmp/hits" || return 1
	hits 0 usdt:values:kinds --when 'arg7 == 4' -- "$values" && says "$tmp/err" 'no hit'
}
check 'USDT: --when is about its arguments' usdt_when

usdt_places() {
	hits 0 usdt:values:twice --max-hits 4 -- "$values" && args arg0=0x65 arg0=0xc9 arg0=0x66 arg0=0xca || return 1
	hits 0 usdt:values:twice --when 'arg0 == 202' -- "$values" && args arg0=0xca
}
check 'USDT: each place of a probe has its argument elsewhere' usdt_places

usdt_missing() {
	hits 125 usdt:values:twice --when 'arg1 == 0' -- "$values" && says "$tmp/err" 'usdt:values:twice has no arg1' || return 1
	hits 125 usdt:values:kinds --when 'arg5 > 0' -- "$values" && says "$tmp/err" 'no arg5 that is an integer' || return 1
	hits 125 usdt:values:twice --slower-than 1ms -- "$values" && says "$tmp/err" 'name a function'
}
check 'USDT: what a probe does not have is refused' usdt_missing

usdt_everywhere() {
	hits 0 usdt:values:twice --max-hits 2 -- "$values" && "$trailcam" report --json "$tmp/rec" >"$tmp/json" &&
		python3 - "$tmp/json" <<-END || return 1
			import json, sys
			hits = json.load(open(sys.argv[1]))["hits"]
			assert [hit["args"] for hit in hits] == [{"arg0": "0x65"}, {"arg0": "0xc9"}], hits
		END
	"$trailcam" report "$tmp/rec" >"$tmp/text" && says "$tmp/text" 'arg0   0x65' && ! grep -q arg1 "$tmp/text" || return 1
	"$trailcam" decode "$tmp/rec" -o "$tmp/again.fxt" 2>"$tmp/err" && "$trailcam" dump --hits "$tmp/again.fxt" >"$tmp/hits" && args arg0=0x65 arg0=0xc9 ||
		return 1
	"$trailcam" decode "$tmp/rec" -o "$tmp/t.html" 2>"$tmp/err"
}
check 'USDT: report, JSON and a trace that is read again say the same' usdt_everywhere

# --- functions

# An instruction of take() behind its first.
offset=$(objdump -d --disassemble=take "$values" | awk -F: '/^ .*:/ { sub(/^ */, "", $1); print $1; if (++n == 3) exit }' | tr '\n' ' ' |
	{ read -r a _ c; echo $((0x$c - 0x$a)); })
within() {
	hits 125 "take+$offset" --when 'arg2 == -2' -- "$values" && says "$tmp/err" "not the beginning of a function" || return 1
	hits 0 "take+$offset" --when '(int)rdx == -2 || rsp != 0' -- "$values" && args
}
check 'within a function registers are known, not arguments' within

# --- call stacks

frameless=$tmp/frameless
gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o "$frameless" tests/programs/src/frameless.c || exit 1
at=0x$(nm "$frameless" | awk '$3 == "leaf" { print $1 }')
cp "$frameless" "$frameless-stripped" && strip "$frameless-stripped"

# stack_is NAME...: the functions of the one hit's stack that are not of the C library.
stack_is() {
	awk '$1 ~ /^#/ { sub(/[.+].*/, "", $3); print $3 }' "$tmp/hits" | grep -v 'msort\|qsort\|libc' | tr '\n' ' ' >"$tmp/stack"
	[ "$* " = "$(cat "$tmp/stack")" ] || {
		cat "$tmp/hits"
		return 1
	}
}

stack() {
	hits 0 leaf -- "$frameless" && stack_is leaf middle recurse recurse recurse compare main _start
}
check 'the stack of code without frame pointers, down to the beginning' stack

stack_stripped() {
	hits 0 leaf -- "$frameless" && grep -c '#' "$tmp/hits" >"$tmp/frames" &&
		hits 0 "$frameless-stripped:$at" -- "$frameless-stripped" && grep -c '#' "$tmp/hits" | diff - "$tmp/frames" &&
		! grep 'unknown\|#[0-9]* 0x[0-9a-f]\{1,8\} ' "$tmp/hits"
}
check 'the same, of a program without symbols' stack_stripped

stack_within() {
	hits 0 usdt:values:twice --max-hits 2 -- "$values" &&
		awk '$1 == "return_address" { wanted = $2 } $1 == "#1" && $2 == wanted && $3 ~ /^main\+/ { n++ } END { exit n != 2 }' "$tmp/hits"
}
check 'within a function, too, the return address is that of the caller' stack_within

# More frames than are kept: what is shown of them says so, everywhere.
cat >"$tmp/deep.c" <<'END'
volatile int sum;
__attribute__((noinline)) void bottom(int i)
{
	sum += i;
}
__attribute__((noinline)) void down(int i)
{
	if (i)
		down(i - 1);
	else
		bottom(i);
	sum++;
}
int main(void)
{
	down(100);
	return 0;
}
END

stack_cut() {
	gcc -O1 -fno-optimize-sibling-calls -o "$tmp/deep" "$tmp/deep.c" && hits 0 bottom -- "$tmp/deep" || return 1
	for trace in "$tmp/rec" "$tmp/t.fxt"; do
		"$trailcam" dump --hits "$trace" >"$tmp/hits" && tail -1 "$tmp/hits" | grep -qx '  \.\.\.' && [ "$(grep -c ' down' "$tmp/hits")" -eq 63 ] &&
			"$trailcam" report "$trace" | grep -q '^    \.\.\.  callers unknown: too deep' &&
			"$trailcam" report --json "$trace" | grep -q '"stack_is_cut": true' || return 1
	done
	"$trailcam" report "$tmp/rec" | awk 'length > 80' | grep -v '^command\|^trace' && return 1
	hits 0 leaf -- "$frameless" && ! grep -q '^  \.\.\.' "$tmp/hits" && "$trailcam" report --json "$tmp/rec" | grep -q '"stack_is_cut": false'
}
check 'a stack that is deeper than what is kept of it says so' stack_cut

stack_crash() {
	rm -rf "$tmp/rec"
	"$trailcam" run --source none --on-signal SEGV --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- "$frameless" crash >"$tmp/out" 2>"$tmp/err"
	"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits" && stack_is leaf middle recurse recurse recurse compare main _start
}
check 'the stack of a crash' stack_crash

# The trace begins at the hit of --step-from, in the middle of the program: what it returns to is known by the
# stacks of its hits.
roots() {
	rm -rf "$tmp/rec"
	"$trailcam" run --source step --step-from compare -t leaf --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- "$frameless" >"$tmp/out" 2>"$tmp/err" &&
		"$trailcam" dump --slices "$tmp/rec" >"$tmp/slices" && ! grep unknown "$tmp/slices" && says "$tmp/slices" _start &&
		awk '$4 == "main" && $3 == 0 { exit 1 }' "$tmp/slices"
}
check 'nothing is invented above the outermost function' roots

# --- Go

go_builds() {
	mkdir "$tmp/go" && cp tests/programs/src/values.go "$tmp/go" &&
		(cd "$tmp/go" && GOCACHE=$tmp/go/cache GOFLAGS=-mod=mod CGO_ENABLED=1 go build -o values values.go)
}

go_args() {
	hits 0 main.take --when 'arg0 == -2 && arg2 == 7 && str(arg1) == "query 2*" && arg4 == 3 && (u8)arg6 == 97' -- "$tmp/go/values" &&
		grep -q '^  arg0 0xfffffffffffffffe$' "$tmp/hits" && grep -q '^  arg2 0x7$' "$tmp/hits" && grep -q '^  arg8 ' "$tmp/hits"
}

go_names() {
	hits 0 main.take --when 'n == -2 && str(text) == "query 2" && str(text) != "query" && bytes[2] == 3 && letter == 97' --print 'n, str(text, 3), bytes[1], letter, ret' \
		-- "$tmp/go/values" &&
		values_are 'n = -2' 'str(text, 3) = que...' 'bytes[1] = 2' 'letter = 97' 'ret = 105' || return 1
	hits 125 main.spread --when 'two > 0' -- "$tmp/go/values" && says "$tmp/err" "name a field of it with '.'" || return 1
	hits 0 main.spread --when 'two.low == 1 && str(two.name) == "three"' --print 'two.low, str(two.name, 3), two.name.len' -- "$tmp/go/values" &&
		values_are 'two.low = 1' 'str(two.name, 3) = thr...' 'two.name.len = 5' || return 1
	hits 125 main.spread --when 'two.high > 1' -- "$tmp/go/values" && says "$tmp/err" 'only integers' || return 1
	hits 125 main.spread --when 'real > 1' -- "$tmp/go/values" && says "$tmp/err" 'in a vector register' || return 1
	hits 0 main.spread --when 'behind->low == 5' --print 'behind->low, last' -- "$tmp/go/values" && values_are 'behind->low = 5' 'last = 6' || return 1
	hits 125 main.spread --when 'beyond == 1' -- "$tmp/go/values" && says "$tmp/err" 'too few registers' || return 1
	hits 125 main.spread --when 'result == 1' -- "$tmp/go/values" && says "$tmp/err" "'result' is unknown"
}

go_typed() {
	hits 0 main.take --skip 1 --slower-than 1ns -- "$tmp/go/values" && sed -i 's/0xc0[0-9a-f]*/HEAP/' "$tmp/hits" &&
		values_are 'ret = 105' 'n = -2' 'text = query 2' 'bytes = HEAP' 'len(bytes) = 3' 'letter = 97' || return 1
	hits 0 main.spread -- "$tmp/go/values" && sed -i 's/0xc0[0-9a-f]*/HEAP/' "$tmp/hits" &&
		values_are 'real = ? (it is in a vector register)' 'behind = HEAP' 'last = 6' 'bytes = HEAP' 'len(bytes) = 1' \
			'beyond = ? (it is in no register for integers)' 'two.low = 1' 'two.name = three' 'behind->low = 5' 'behind->name = five'
}

go_c_args() {
	hits 0 c_take --when 'arg0 == 102 && arg1 == 77' -- "$tmp/go/values" && grep -q '^  arg1 0x4d$' "$tmp/hits" && ! grep -q '^  arg6 ' "$tmp/hits"
}

go_prints() {
	hits 0 main.take --skip 1 --print 'arg0, str(arg1, 7), arg2' -- "$tmp/go/values" &&
		grep -q '^  value arg0 = -2$' "$tmp/hits" && grep -q '^  value str(arg1, 7) = query 2' "$tmp/hits" && grep -q '^  value arg2 = 7$' "$tmp/hits"
}

go_stack_args() {
	# The magic number of Go 1.2 to 1.15.
	cp "$tmp/go/values" "$tmp/go/old" &&
		at=$(objdump -h "$tmp/go/old" | awk '$2 ~ /gopclntab$/ { print $6 }') &&
		printf '\373' | dd of="$tmp/go/old" bs=1 seek=$((0x$at)) conv=notrunc 2>/dev/null || return 1
	hits 125 main.take --when 'arg0 == -2' -- "$tmp/go/old" && says "$tmp/err" 'Go passes its arguments on the stack' || return 1
	hits 125 internal/cpu.cpuid.abi0 --when 'arg0 == 0' -- "$tmp/go/values" && says "$tmp/err" 'Go passes its arguments on the stack'
}

if command -v go >/dev/null && go_builds; then
	check 'Go: arguments are in the registers that Go has for them' go_args
	check 'Go: parameters by their names' go_names
	check 'Go: parameters without being asked for' go_typed
	check 'Go: functions of C in it have those of C' go_c_args
	check 'Go: --print' go_prints
	check 'Go: arguments on the stack are refused' go_stack_args
else
	skip 'arguments of Go functions' 'golang-go is not installed'
fi

# --- Rust

rust_names() {
	for level in 0 2; do
		rustc -g -C opt-level=$level -o "$tmp/rust" tests/programs/src/values.rs &&
			hits 0 take --when 'n == 2 && str(text) == "query 2" && words[0] == 7' --print 'str(text, 3), words[1], last' -- "$tmp/rust" &&
			values_are 'str(text, 3) = que...' 'words[1] = 8' 'last = 200' || return 1
		hits 0 take --when 'n == 2' -- "$tmp/rust" && grep -v ' words = ' "$tmp/hits" >"$tmp/rest" && mv "$tmp/rest" "$tmp/hits" &&
			values_are 'n = 2' 'text = query 2' 'len(words) = 2' 'last = 200' || return 1
	done
}
if command -v rustc >/dev/null; then
	check 'Rust: parameters by their names' rust_names
else
	skip 'parameters of Rust functions' 'rustc is not installed'
fi

# A std::string is its text, a reference to one, too.
cxx_texts() {
	hits 0 serve --when 'str(peer) == "10.0.0.4" && str(request.path) == "/a/path/that*"' --print 'str(request.path), str(peer), str(moved), kind, unused' -- \
		"$programs/texts" && values_are 'str(request.path) = /a/path/that/is/longer/than/sixteen/bytes/4' 'str(peer) = 10.0.0.4' 'str(moved) = moved' \
		'kind = GET (3)' 'unused = 0x0' || return 1
	hits 0 serve --when 'kind == PUT && str(request->path) != "/short"' --print 'request->id' --max-hits 3 -- "$programs/texts" && values_are 'request->id = 8'
}
check 'C++: std::string, enum class' cxx_texts

cxx_typed() {
	hits 0 serve --skip 4 -- "$programs/texts" && grep -v ' request = ' "$tmp/hits" >"$tmp/rest" && mv "$tmp/rest" "$tmp/hits" &&
		values_are 'peer = 10.0.0.4' 'moved = moved' 'kind = GET (3)' 'unused = 0x0' 'request->id = 4' \
			'request->path = /a/path/that/is/longer/than/sixteen/bytes/4'
}
check 'C++: the same without being asked for' cxx_typed

# --- --print

prints() {
	hits 0 take --max-hits 2 --print 'str(arg1), str(arg1, 5),*(u32 *)(arg0 + 4), (int)arg2, arg4, (u64)arg4,str(*(char **)(arg0 + 8))' -- "$values" &&
		values_are 'str(arg1) = query 1\n\t"end"' 'str(arg1, 5) = query...' '*(u32 *)(arg0 + 4) = 4096' '(int)arg2 = -1' 'arg4 = -255' \
			'(u64)arg4 = 18446744073709551361' 'str(*(char **)(arg0 + 8)) = a buffer' \
			'str(arg1) = [unreadable]' 'str(arg1, 5) = [unreadable]' '*(u32 *)(arg0 + 4) = 4096' '(int)arg2 = -2' 'arg4 = -254' \
			'(u64)arg4 = 18446744073709551362' 'str(*(char **)(arg0 + 8)) = a buffer'
}
check '--print: numbers and texts, and what cannot be read' prints

prints_when() {
	hits 0 take --when 'str(arg1) == "query 3*"' --print 'str(arg1, 7), (int)arg2' -- "$values" &&
		values_are 'str(arg1, 7) = query 3...' '(int)arg2 = -3' || return 1
	hits 0 take --skip 1 --print 'ret, elapsed > 0, (int)arg2' -- "$values" && values_are 'ret = -3992' 'elapsed > 0 = 1' '(int)arg2 = -2'
}
check '--print: of the hits that --when chose, and of returns' prints_when

prints_usdt() {
	hits 0 usdt:values:kinds -t usdt:values:twice --print 'arg0' --max-hits 4 -- "$values" && values_are 'arg0 = 101' 'arg0 = 201' || return 1
	hits 0 usdt:values:kinds --print '(s16)arg6, arg7, *arg9 == arg3' --skip 2 -- "$values" &&
		values_are '(s16)arg6 = -32767' 'arg7 = 3' '*arg9 == arg3 = 1'
}
check '--print: arguments of USDT probes, each trigger its own' prints_usdt

prints_stepped() {
	rm -rf "$tmp/rec"
	"$trailcam" run --source step --step-from take -t take --print 'str(arg1)' --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- "$values" >"$tmp/out" 2>"$tmp/err" &&
		"$trailcam" dump --hits "$tmp/rec" >"$tmp/hits" && grep -q '^  value str(arg1) = query [12]\|unreadable' "$tmp/hits"
}
check '--print: where the program is stepped' prints_stepped

prints_everywhere() {
	rm -rf "$tmp/rec"
	"$trailcam" run --source none --keep-recording "$tmp/rec" -t take --print 'str(arg1), arg4' -o "$tmp/p.fxt" -o "$tmp/p.json" -o "$tmp/p.csv" \
		-o "$tmp/p.html" -o "$tmp/p.pftrace" -- "$values" >"$tmp/out" 2>"$tmp/err" && "$trailcam" report --json "$tmp/rec" >"$tmp/json" &&
		python3 - "$tmp/json" "$tmp/p.json" <<-'END' || return 1
			import json, sys
			report, trace = (json.load(open(path)) for path in sys.argv[1:3])
			text = 'query 1\n\t"end"'
			assert report["hits"][0]["values"] == {"str(arg1)": text, "arg4": -255}, report["hits"][0]["values"]
			events = trace["traceEvents"] if isinstance(trace, dict) else trace
			args = [e for e in events if e.get("cat") == "hit"][0]["args"]
			assert args["str(arg1)"] == text and args["= arg4"] == -255 and args["arg4"] == "0xffffffffffffff01", args
		END
	says "$tmp/p.csv" '"str(arg1)=query 1\n\t""end"" arg4=-255"' && grep -q 'str(arg1)' "$tmp/p.pftrace" || return 1
	"$trailcam" report "$tmp/rec" >"$tmp/text" && says "$tmp/text" '    str(arg1) = query 1\n\t"end"' &&
		"$trailcam" dump --hits "$tmp/p.fxt" >"$tmp/hits" && values_are 'str(arg1) = query 1\n\t"end"' 'arg4 = -255'
}
check '--print: in every output, and in a trace that is read again' prints_everywhere

prints_refused() {
	hits 125 take --print 'arg0, pid->len' -- "$values" && says "$tmp/err" '--print' || return 1
	hits 125 take --print 'arg0 arg1' -- "$values" && says "$tmp/err" 'a comma between values' || return 1
	hits 125 take --print 'str(arg1, 5000)' -- "$values" && says "$tmp/err" 'a number from 1 to 1024' || return 1
	hits 125 take --print 'arg7' -- "$values" && says "$tmp/err" 'arg7 of take is not in a register' || return 1
	"$trailcam" run --print arg0 -o "$tmp/t.fxt" -- "$values" 2>"$tmp/err"
	[ $? -eq 125 ] && says "$tmp/err" 'name one with -t'
}
check '--print: what makes no sense is refused' prints_refused

# --- without --print

typed() {
	hits 0 take --skip 1 -- "$values" &&
		sed -i 's/0x7[0-9a-f]*/STACK/' "$tmp/hits" &&
		values_are 'buffer = STACK' 'text = NULL' 'number = -2' 'letter = 99' 'large = 18446744073709551362' 'buffer->used = 7' \
			'buffer->len = 4096' 'buffer->name = a buffer' 'buffer->owner = STACK' || return 1
	hits 0 half -- "$values" && sed -i 's/0x7[0-9a-f]*/STACK/' "$tmp/hits" &&
		values_are 'real = ? (it is in a vector register)' 'owner = STACK' 'owner->name = nobody' 'owner->low = 9' 'owner->bits = 5' \
			'owner->wide = -154320986265' || return 1
	hits 0 take --print none -- "$values" && ! grep '  value' "$tmp/hits" || return 1
	objcopy --strip-debug "$values" "$tmp/bare" && hits 0 take -- "$tmp/bare" && ! grep '  value' "$tmp/hits"
}
check 'parameters and fields are recorded without being asked for' typed

# They may neither move a hit nor make it none.
typed_returns() {
	hits 0 take --slower-than 1ns --skip 2 -- "$values" && grep -qx '  value ret = -3992' "$tmp/hits" || {
		hits 0 take --slower-than 1ns --skip 1 -- "$values" && grep -qx '  value ret = -3992' "$tmp/hits"
	} || return 1
	hits 0 take -- "$values" && ! grep '  value ret' "$tmp/hits"
}
check 'the return value is, where hits are returns' typed_returns

cat >"$tmp/kinds.c" <<'END'
enum method { GET = 2, POST, DELETE = -1 };
enum flags { READ = 1, WRITE = 2, APPEND = 8 };
struct request { enum method method; enum flags flags; union { int code; char letter; }; struct request *next; };
struct pair { long a, b, c; };
enum method __attribute__((noinline)) handle(struct request *request, enum method method, enum flags flags, int unknown);
enum method __attribute__((noinline)) handle(struct request *request, enum method method, enum flags flags, int unknown)
{
	__asm__ volatile("" ::: "memory");
	return request->flags + method + flags + unknown ? DELETE : GET;
}
long __attribute__((noinline)) by_value(struct pair pair, int behind);
long __attribute__((noinline)) by_value(struct pair pair, int behind)
{
	__asm__ volatile("" ::: "memory");
	return pair.a + behind;
}
int __attribute__((noinline)) tail(int number);
int __attribute__((noinline)) tail(int number)
{
	__asm__ volatile("" ::: "memory");
	return (int)handle(&(struct request){DELETE, WRITE, {.code = number}, 0}, DELETE, READ | APPEND, 4);
}
int main(void)
{
	struct request request = {POST, READ | WRITE, {.code = 65}, &request};
	return (int)handle(&request, GET, 9, 7) + (int)by_value((struct pair){1, 2, 3}, 4) + tail(5) == 12345;
}
END

enums() {
	gcc -g -O1 -o "$tmp/kinds" "$tmp/kinds.c" || return 1
	hits 0 handle --slower-than 1ns --when 'method == GET' -- "$tmp/kinds" && grep -v ' request = \| request->next = ' "$tmp/hits" >"$tmp/rest" &&
		mv "$tmp/rest" "$tmp/hits" && values_are 'ret = DELETE (-1)' 'method = GET (2)' 'flags = READ | APPEND (9)' 'unknown = 7' \
		'request->method = POST (3)' 'request->flags = READ | WRITE (3)' 'request->code = 65' 'request->letter = 65' || return 1
	hits 0 handle --print 'request->method, (int)request->method, method' --when 'method == DELETE' -- "$tmp/kinds" &&
		values_are 'request->method = DELETE (-1)' '(int)request->method = -1' 'method = DELETE (-1)'
}
check 'constants of enums by their names, single or joined' enums

cat >"$tmp/parts.cc" <<'END'
#include <string_view>
struct small { int number; short rank; char letter; unsigned char flag : 1, rest : 7; };
struct mixed { double real; const char *name; };
struct two { long first; small *second; };
extern "C" __attribute__((noinline)) int parts(small one, int between, mixed other, std::string_view text, two *pointer)
{
	__asm__ volatile("" ::: "memory");
	return one.number + between - (int)text.size() + (int)pointer->first + (int)other.real;
}
extern "C" __attribute__((noinline)) long joined(two pair, two *more)
{
	__asm__ volatile("" ::: "memory");
	return pair.first + pair.second->number + more->first;
}
int main()
{
	char text[] = "view and more";
	small one = {-5, 7, 'x', 1, 99};
	two pair = {-3, &one};
	return parts(one, 2, {2.5, "mixed"}, {text, 4}, &pair) + joined(pair, &pair) > 1000;
}
END

by_value() {
	g++ -std=c++17 -g -O1 -o "$tmp/parts" "$tmp/parts.cc" || return 1
	hits 0 parts --slower-than 1ns -- "$tmp/parts" && sed -i 's/0x7[0-9a-f]*/STACK/' "$tmp/hits" &&
		values_are 'ret = -8' 'between = 2' 'text = view' 'pointer = STACK' 'one.number = -5' 'one.rank = 7' 'one.letter = 120' 'one.flag = 1' 'one.rest = 99' \
			'other.name = mixed' 'pointer->first = -3' 'pointer->second = STACK' || return 1
	hits 0 parts --when 'one.rank == 7 && one.number < -4 && one.rest == 99 && str(text) == "view" && str(text) != "vie" && str(other.name) == "mix*"' \
		--print 'str(text), pointer->second->rank' -- "$tmp/parts" && values_are 'str(text) = view' 'pointer->second->rank = 7' || return 1
	hits 0 joined --when 'pair.second->letter == 120 && pair.first == -3' --print 'pair.second->number' -- "$tmp/parts" &&
		values_are 'pair.second->number = -5' || return 1
	hits 0 parts --when 'str(text) == "view and more"' -- "$tmp/parts" && says "$tmp/err" 'no hit' || return 1
	hits 125 parts --when 'other.real > 1' -- "$tmp/parts" && says "$tmp/err" 'only integers' || return 1
	hits 125 parts --when 'one > 1' -- "$tmp/parts" && says "$tmp/err" "name a field of it with '.'"
}
check 'structs in registers by their fields, string_view as its text' by_value

cat >"$tmp/stacked.cc" <<'END'
#include <string>
struct pod { int a; char text[24]; long z; };
struct wide { long double real; int tag; };
struct empty { };
struct two { long a, b; };
struct owner { long id; std::string name; };
extern "C" __attribute__((noinline)) long mixed(int i1, two t1, two t2, two late, int i6, int beyond, pod one, short after, empty, wide w, int last,
						owner by_address)
{
	__asm__ volatile("" ::: "memory");
	return i1 + t1.a + t1.b + t2.a + t2.b + late.a + i6 + beyond + one.a + after + (long)w.real + w.tag + last + by_address.id;
}
extern "C" __attribute__((noinline)) long many(double d1, double d2, double d3, double d4, double d5, double d6, double d7, double d8, double d9, int a,
					       int b, int c, int d, int e, int f, int seventh, const char *eighth)
{
	__asm__ volatile("" ::: "memory");
	return (long)(d1 + d2 + d3 + d4 + d5 + d6 + d7 + d8 + d9) + a + b + c + d + e + f + seventh + eighth[0];
}
int main()
{
	return mixed(1, {2, 3}, {4, 5}, {6, 7}, 8, 9, {5, "pod text", 9}, -10, {}, {3.5L, 4}, 12, {77, "name"}) +
	       many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -16, "eight") == 1;
}
END

stacked() {
	for compiler in 'g++ -O0' 'g++ -O2' 'clang++ -O0' 'clang++ -O2'; do
		$compiler -g -o "$tmp/stacked" "$tmp/stacked.cc" || return 1
		hits 0 mixed -- "$tmp/stacked" && sed -i '/ t[12]\./d' "$tmp/hits" &&
			values_are 'i1 = 1' 'i6 = 8' 'beyond = 9' 'after = -10' 'last = 12' 'by_address = ? (it is in no register for integers)' 'late.a = 6' \
				'late.b = 7' 'one.a = 5' 'one.text = pod text' 'one.z = 9' 'w.tag = 4' || return 1
		hits 0 many --slower-than 1ns --when 'ret > 0 && seventh == -16 && str(eighth) == "eight"' --print 'seventh, str(eighth), f' -- "$tmp/stacked" &&
			values_are 'seventh = -16' 'str(eighth) = eight' 'f = 15' || return 1
	done
	hits 0 mixed --when 'last == 13' -- "$tmp/stacked" && says "$tmp/err" 'no hit'
}
check 'parameters on the stack, and structs there by their fields' stacked

results() {
	hits 0 parts --when 'ret < 0 && ret == -8' --print 'ret, ret + 1' -- "$tmp/parts" && values_are 'ret = -8' 'ret + 1 = -7' || return 1
	objcopy --strip-debug "$tmp/parts" "$tmp/parts-bare"
	hits 0 parts --when '(int)ret < 0 && ret > 0' --print 'ret' -- "$tmp/parts-bare" && values_are 'ret = 4294967288'
}
check 'a result has the type of its function where that is known' results

lacking() {
	hits 0 by_value -- "$tmp/kinds" &&
		values_are 'behind = 4' 'pair.a = 1' 'pair.b = 2' 'pair.c = 3' || return 1
	hits 0 by_value --when 'behind == 4' --print none -- "$tmp/kinds" || return 1
	hits 0 '[bt][ya]*' --max-hits 2 -- "$tmp/kinds" && ! grep '  value number' "$tmp/hits"
}
check 'what only some functions of a pattern have refuses nothing' lacking

# --- fields of what arguments point to

fields() {
	hits 0 take --when 'arg0->len == 4096 && arg0->owner->of.level < 0 && str(arg0->name) == "a buf*" && (int)arg2 == -2' \
		--print 'arg0->used, str(arg0->name), str(arg0->owner->name), arg0->owner->of.rank, arg0->owner->name[1], ret' -- "$values" &&
		values_are 'arg0->used = 7' 'str(arg0->name) = a buffer' 'str(arg0->owner->name) = nobody' 'arg0->owner->of.rank = 9' \
			'arg0->owner->name[1] = 111' 'ret = -3992' || return 1
	hits 0 take --when 'arg0->len != 4096' -- "$values" && says "$tmp/err" 'no hit'
}
check 'fields by their names, in --when and --print, at the beginning and the return' fields

bits() {
	hits 0 take --when 'arg0->owner->bits == 5 && arg0->owner->wide < -1' \
		--print 'arg0->owner->low, arg0->owner->bits, arg0->owner->wide' -- "$values" &&
		values_are 'arg0->owner->low = 9' 'arg0->owner->bits = 5' 'arg0->owner->wide = -154320986265'
}
check 'bit fields' bits

# The registers of integers hold something else.
floats() {
	hits 0 half --when 'arg0->low == 9' --print 'arg0->bits' -- "$values" && values_are 'arg0->bits = 5' || return 1
	hits 125 half --when 'arg1 != 0' -- "$values" && says "$tmp/err" 'floating-point parameters are in vector registers' || return 1
	hits 125 half --print 'ret' -- "$values" && says "$tmp/err" 'half returns a double in a vector register' || return 1
	hits 0 half --print 'elapsed > 0' -- "$values" && values_are 'elapsed > 0 = 1'
}
check 'floating-point numbers are refused where an integer would be read for them' floats

names() {
	hits 0 take --when 'buffer->len > 4095 && number == -2 && buffer->owner->of.level == LOW' \
		--print 'buffer->used, str(buffer->name), number, letter, large, text, ret, HIGH' -- "$values" &&
		values_are 'buffer->used = 7' 'str(buffer->name) = a buffer' 'number = -2' 'letter = 99' 'large = 18446744073709551362' \
			'text = 0x0' 'ret = -3992' 'HIGH = 9' || return 1
	hits 0 take --when 'str(text) == "query 3*" && text[6] == 0x33' --print '*text' -- "$values" && values_are '*text = 113' || return 1
	hits 0 half --print 'owner->low' -- "$values" && values_are 'owner->low = 9' || return 1
	hits 0 '[fs][ie][rc]*' --when 'number == 202' --print number -- "$values" && values_are 'number = 202'
}
check 'parameters and constants by their names, with their types' names

names_refused() {
	hits 125 take --print 'number, nmuber' -- "$values" && says "$tmp/err" 'the parameters there are: buffer, text, number, letter, large' &&
		grep -q '^          ^$' "$tmp/err" || return 1
	hits 125 half --when 'real > 1' -- "$values" && says "$tmp/err" "'real' of half is a floating-point number in a vector register" || return 1
	hits 125 usdt:values:kinds --when 'number > 0' -- "$values" && says "$tmp/err" 'whose note gives no names' || return 1
	hits 125 "take+$offset" --when 'number > 0' -- "$values" && says "$tmp/err" 'not the beginning of a function' || return 1
	hits 125 '[ts][ae][kc]*' --when 'number > 0' -- "$values" && says "$tmp/err" "'number' is not the same in" || return 1
	objcopy --strip-debug "$values" "$tmp/bare" && hits 125 take --when 'number < 0' -- "$tmp/bare" &&
		says "$tmp/err" "there is no debug information for take"
}
check 'names: what is not known is refused' names_refused

fields_refused() {
	hits 125 take --print 'arg0->lenght' -- "$values" && says "$tmp/err" "struct buffer has no field 'lenght' that can be read: it has used, len, name" ||
		return 1
	hits 125 take --when 'arg1->len > 0' -- "$values" && says "$tmp/err" 'arg1 is of the type char *, not a pointer to a struct' || return 1
	hits 125 usdt:values:kinds --when 'arg9->len > 0' -- "$values" && says "$tmp/err" 'a USDT probe' || return 1
	at=$(objdump -d --disassemble=take "$values" | awk '/\tret/ { sub(":", "", $1); print "0x" $1; exit }')
	hits 125 "$values:$at" --when 'arg0->len > 0' -- "$values" && says "$tmp/err" "not the beginning of a function" || return 1
	hits 125 '[tf][ai][kr]*' --when 'arg0->len > 0' -- "$values" && says "$tmp/err" 'of the type long' || return 1
	objcopy --strip-debug "$values" "$tmp/bare" && hits 125 take --print 'arg0->len' -- "$tmp/bare" && says "$tmp/err" 'compile with -g'
}
check 'fields: what is not known is refused' fields_refused

# --- which function, and how often

which_function() {
	hits 0 '[t]ake' --max-hits 1 -- "$values" && says "$tmp/err" 'hit [t]ake' || return 1
	hits 0 '[ft][ai][kr]*' --max-hits 2 -- "$values" && says "$tmp/err" "2 hits, the last of take ('[ft][ai][kr]*')"
}
check 'of a pattern, the function that was hit is named' which_function

cat >"$tmp/cosine.c" <<'END'
#include <math.h>
#include <stdio.h>
int main(int argc, char **argv) { (void)argv; printf("%f\n", cos(argc)); return 0; }
END
# An implementation is called by the program; the resolver by the dynamic loader. Without debug symbols
# nothing names implementations.
ifunc() {
	gcc -fno-builtin -o "$tmp/cosine" "$tmp/cosine.c" -lm || return 1
	if ! "$trailcam" probes libm.so.6 __cos_sse2 >/dev/null 2>&1; then
		hits 125 cos -- "$tmp/cosine" && says "$tmp/err" 'indirect function (IFUNC)'
		return
	fi
	hits 0 cos -- "$tmp/cosine" && grep -q '^  #1 .* main+' "$tmp/hits" && ! grep '_dl_' "$tmp/hits" || return 1
	hits 0 'libm.so.6:__cos_*' -- "$tmp/cosine" && grep -q '^  #1 .* main+' "$tmp/hits"
}
check 'an indirect function means its implementations, and not what chooses one' ifunc

# Each snapshot cuts the call that it comes in.
call_counts() {
	rm -rf "$tmp/rec"
	# Without a start point, which would be waited for again behind each snapshot, and without a dynamic
	# loader, which would be stepped, too.
	gcc -O1 -static -o "$tmp/values-static" tests/programs/values.c &&
		"$trailcam" run --source step --multi-snapshot -t take --keep-recording "$tmp/rec" -o "$tmp/t.fxt" -- "$tmp/values-static" 2 \
		>"$tmp/out" 2>"$tmp/err" && "$trailcam" report --json --top 1000 "$tmp/rec" >"$tmp/json" && python3 - "$tmp/json" <<-END
		import json, sys
		report = json.load(open(sys.argv[1]))
		calls = {f["name"]: f["calls"] for f in report["functions_by_self"]}
		assert calls["take"] == 2 and calls["main"] == 1, calls
	END
}
check '--multi-snapshot: calls are counted once' call_counts

# --- bad input

closed_stdout() {
	(exec "$trailcam" run --source none -t take -o - -- "$values" >&- 2>"$tmp/err")
	[ $? -eq 125 ] && says "$tmp/err" 'standard output is closed' && ! grep wrote "$tmp/err" || return 1
	# Nothing else gets what is meant for it.
	(exec "$trailcam" run --source none -t "$values:take" -o "$tmp/t.tsv" -- sh -c 'echo lost; exec "$0"' "$values" >&- 2>"$tmp/err")
	says "$tmp/err" 'wrote' && ! grep lost "$tmp/t.tsv"
}
check 'a closed standard output is no file to write to' closed_stdout

few_descriptors() {
	for limit in 8 9 10 11 12 13 14; do
		prlimit --nofile=$limit "$trailcam" run --source none -t take -o "$tmp/t.fxt" -- "$values" >"$tmp/out" 2>"$tmp/err"
		[ $? -eq 125 ] && grep -q "no file descriptors are left .* may have $limit; raise\|Too many open files" "$tmp/err" &&
			! grep 'BPF program' "$tmp/err" || return 1
	done
}
check 'no file descriptors: that is said' few_descriptors

no_hits() {
	"$trailcam" run --source none -o "$tmp/none.fxt" -- "$values" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 125 ] && says "$tmp/err" 'records only hits: name a trigger' && [ ! -e "$tmp/none.fxt" ] && [ ! -s "$tmp/out" ]
}
check '--source none without a trigger would record nothing' no_hits

finish
