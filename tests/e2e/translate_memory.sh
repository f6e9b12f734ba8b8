#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What a translated program does with all of its memory, or with all that is not its own.
. tests/e2e/lib.sh

# What concerns all memory does not concern ours. Of limits that it lowers it is told what it has set.
cat >"$tmp/memory.c" <<'EOF'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void show(int resource)
{
	struct rlimit limit;
	getrlimit(resource, &limit);
	printf("%lx %lx\n", (long)limit.rlim_cur, (long)limit.rlim_max);
}
static void fill(void)
{
	static void *maps[2000];
	int cnt = 0;
	while (cnt < 2000 && (maps[cnt] = mmap(0, 1 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED)
		cnt++;
	printf("%d MiB\n", cnt / 8 * 8);
	while (cnt--)
		munmap(maps[cnt], 1 << 20);
}
static long locked(void)
{
	long kib = -1;
	char line[200];
	FILE *file = fopen("/proc/self/status", "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "VmLck: %ld", &kib);
	return kib;
}
int main(void)
{
	struct rlimit low = {300 << 20, 400 << 20}, lower = {200 << 20, 350 << 20}, data = {100 << 20, 150 << 20}, bad = {500 << 20, 350 << 20};
	int flags[] = {MCL_CURRENT, MCL_CURRENT | MCL_FUTURE, MCL_CURRENT | MCL_ONFAULT, MCL_FUTURE, MCL_ONFAULT};
	setvbuf(stdout, 0, _IONBF, 0);
	for (int i = 0; i < 5; i++) {
		int result = mlockall(flags[i]);
		printf("%d, %s\n", result, locked() < 20000 ? "as much as it has" : "much more");
		munlockall();
	}
	printf("%d\n", prlimit(0, RLIMIT_AS, &low, 0));
	show(RLIMIT_AS);
	fill();
	printf("%d\n", setrlimit(RLIMIT_AS, &bad));
	printf("%ld\n", syscall(SYS_setrlimit, RLIMIT_AS, &lower));
	printf("%ld %lx\n", syscall(SYS_getrlimit, RLIMIT_AS, &low), (long)low.rlim_cur);
	fill();
	printf("%d\n", setrlimit(RLIMIT_DATA, &data));
	show(RLIMIT_DATA);
	fill();
	printf("%ld\n", syscall(SYS_prlimit64, 0, RLIMIT_AS, 8L, 0L));
	printf("%ld\n", syscall(SYS_prlimit64, 0, RLIMIT_AS, 0L, 8L));
	if (!fork()) {
		show(RLIMIT_AS);
		fill();
		_exit(0);
	}
	wait(0);
	if (!vfork()) {
		execl("/bin/sh", "sh", "-c", "ulimit -v; ulimit -Hv; ulimit -d", (char *)0);
		_exit(1);
	}
	wait(0);
	return 0;
}
EOF
own_memory_counts_not() {
	gcc -O1 -w -o "$tmp/memory" "$tmp/memory.c" && same 0 "$tmp/memory" && says "$tmp/native" 'MiB'
}
check 'all memory is locked, or limited, without ours' own_memory_counts_not
# One that has limited itself and is another user since then: we may not set its limits, but it may. Two
# children execute the shell, and then the program itself does, or has been let go before.
cat >"$tmp/limits.py" <<'EOF'
import os, resource, sys, time
limit = (1 << 28, 1 << 29)
resource.setrlimit(resource.RLIMIT_DATA, limit)
resource.setrlimit(resource.RLIMIT_AS, limit)
os.setgid(65534)
os.setuid(65534)
shell = ["/bin/sh", "-c", "ulimit -v; ulimit -Hv; ulimit -d; ulimit -Hd"]
if not os.fork():
    os.execv(shell[0], shell)
os.wait()
os.waitpid(os.posix_spawn(shell[0], shell, {}), 0)
time.sleep(float(sys.argv[1]))
os.execv(shell[0], shell)
EOF
# Neither raises a limit nor sets one of another user.
bounded() {
	setpriv --inh-caps=-sys_resource --bounding-set=-sys_resource "$trailcam" run --source translate -o "$tmp/out.fxt.gz" "$@"
}
# limits_of_another SECONDS OPTION...
limits_of_another() {
	python3=$(command -v python3) seconds=$1
	shift
	"$python3" -S "$tmp/limits.py" "$seconds" >"$tmp/native" &&
		bounded -q "$@" -- "$python3" -S "$tmp/limits.py" "$seconds" >"$tmp/translated" 2>"$tmp/said" && diff "$tmp/native" "$tmp/translated"
}
their_limits() {
	limits_of_another 0 && limits_of_another 0 --follow-forks && limits_of_another 1 --duration 300ms
}
cat >"$tmp/many.py" <<'EOF'
import os, resource
for _ in range(12):
    if not os.fork():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
        os.execv("/bin/true", ["true"])
    os.wait()
EOF
some_are_named() {
	bounded --follow-forks -- "$(command -v python3)" -S "$tmp/many.py" 2>"$tmp/err" && [ "$(grep -c 'runs natively .* 256 MiB of addresses .*(RLIMIT_AS)' "$tmp/err")" -eq 8 ] &&
		says "$tmp/err" '4 more threads ran natively'
}
if [ "$(id -u)" -eq 0 ]; then
	check 'limits of one who is another user since then' their_limits
	check 'of many that go on natively some are named' some_are_named
else
	skip 'limits of one who is another user since then, and of many' 'not root'
fi
# It gives back all memory that it does not use, and takes it, at addresses where ours is.
cat >"$tmp/place.c" <<'EOF'
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
enum { NEAR = 256 << 20 };
static volatile int ends;
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static void *work(void *ctx)
{
	while (!ends)
		if (fib(15) != 610)
			abort();
	return ctx;
}
static void show(const char *what, long result) { printf("%s: %ld, %s\n", what, result, result ? strerror(errno) : ""); }
static void without(char *start, char *end)
{
	show("madvise", madvise(start, end - start, MADV_DONTNEED));
	show("not whole pages", munmap(start + 1, end - start));
	show("munmap", munmap(start, end - start));
	printf("%d %g\n", fib(20), strtod("1e3", 0));
}
int main(int argc, char **argv)
{
	extern char __ehdr_start;
	char *program = (char *)((long)&__ehdr_start & -4096), *heap = (char *)((long)sbrk(0) + NEAR & -4096),
	     *libraries = (char *)((long)strtod & -4096) - NEAR;
	pthread_t thread;
	setvbuf(stdout, 0, _IONBF, 0);
	if (argc == 1)
		pthread_create(&thread, 0, work, 0);
	without((char *)65536, program);
	without(heap, libraries);
	if (argc == 1) {
		ends = 1;
		pthread_join(thread, 0);
		return 3;
	}
	show("mmap", mmap(heap, libraries - heap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != heap);
	printf("%d %lu\n", fib(20), strtoul("0x12", 0, 16));
	usleep(argc > 2 ? 1000000 : 0);
	show("all of it is there", msync(heap, libraries - heap, MS_ASYNC));
	show("munmap", munmap(heap, libraries - heap));
	return 3;
}
EOF
gcc -O1 -w -D_GNU_SOURCE -o "$tmp/place" "$tmp/place.c" -lpthread || exit 1
check 'memory around ours is given back, with threads' same 3 "$tmp/place"
# takes_place WORD OPTION...: natively from there on; nothing of ours is removed from there at the end of the trace.
takes_place() {
	word=$1
	shift
	"$tmp/place" $word >"$tmp/native"
	status_is 3 translate "$@" -- "$tmp/place" $word >"$tmp/translated" 2>"$tmp/said" && diff "$tmp/native" "$tmp/translated" &&
		says "$tmp/said" "it maps memory in the place of trailcam's"
}
check 'memory is mapped where ours is' takes_place maps
check 'and stays when the trace ends' takes_place 'maps stays' --duration 300ms
# One that is linked to low addresses has the cache above it, where its heap grows.
cat >"$tmp/heap.c" <<'EOF'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	int cnt = 0;
	while (cnt < 1200 && sbrk(1 << 20) != (void *)-1)
		cnt++;
	printf("%d MiB\n", cnt);
	return 0;
}
EOF
gcc -O1 -w -no-pie -o "$tmp/heap" "$tmp/heap.c" || exit 1
# Where it begins is random.
large_heap() {
	for _ in 1 2 3 4 5 6; do same 0 "$tmp/heap" || return 1; done
	same 0 setarch -R "$tmp/heap"
}
check 'a heap of more than a gigabyte' large_heap
finish
