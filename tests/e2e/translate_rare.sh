#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What few programs do, translated ones do, too: code in odd places, odd instructions, frames of their own.
. tests/e2e/lib.sh

# As in lib.sh, for what ends soon, or never.
translate() {
	timeout 60 "$trailcam" run -q --source translate -o "$tmp/out.fxt.gz" "$@"
}

# The runtimes of sanitizers look at each mapping of the program, and map where they please.
cat >"$tmp/checked.c" <<'END_OF_C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *work(void *ctx)
{
	free(malloc(100));
	return ctx;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, work, 0);
	pthread_join(thread, 0);
	puts("checked");
	return 3;
}
END_OF_C
sanitized() {
	"$1" -O1 -fsanitize="$2" -o "$tmp/checked" "$tmp/checked.c" -lpthread || return 1
	ASAN_OPTIONS=detect_leaks=0 same 3 "$tmp/checked"
}
for compiler in gcc clang; do
	for sanitizer in thread address memory dataflow; do
		if echo 'int main(void) { return 0; }' | $compiler -fsanitize=$sanitizer -x c -o "$tmp/empty" - 2>/dev/null; then
			check "$compiler -fsanitize=$sanitizer" sanitized $compiler $sanitizer
		fi
	done
done

finish
