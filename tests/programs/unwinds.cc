/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways out of a function that are no return, through recursions in which only some of the calls catch:
 * exceptions, rethrown ones, clean-ups, longjmp, out of a signal's handler, too.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <stdexcept>

struct guard {
	int *count;
	~guard() { ++*count; }
};

static int cleaned;

/* Catches at every third level, and throws on at every sixth. */
__attribute__((noinline)) static int recurse(int level, int thrower)
{
	guard clean{&cleaned};

	if (level == thrower)
		throw std::runtime_error("deep enough");
	if (level % 3)
		return recurse(level + 1, thrower) + 1;
	try {
		return recurse(level + 1, thrower) + 1;
	} catch (const std::runtime_error &) {
		if (level % 6 == 0 && level > 0)
			throw;
		return level;
	}
}

static jmp_buf jumps[4];

__attribute__((noinline)) static int jumper(int level)
{
	if (level == 9)
		longjmp(jumps[1], 1);
	if (level % 3 == 0 && setjmp(jumps[level / 3]))
		return level;
	return jumper(level + 1) + 1;
}

static sigjmp_buf out;

static void on_usr1(int)
{
	siglongjmp(out, 1);
}

static void on_usr2(int)
{
	if (!sigsetjmp(out, 1))
		raise(SIGUSR1);
}

__attribute__((noinline)) static int signalled()
{
	signal(SIGUSR1, on_usr1);
	signal(SIGUSR2, on_usr2);
	if (!sigsetjmp(out, 1))
		raise(SIGUSR1);
	return raise(SIGUSR2);
}

int main()
{
	for (int thrower = 1; thrower < 12; thrower += 3)
		std::printf("%d\n", recurse(0, thrower));
	std::printf("%d %d %d\n", cleaned, jumper(0), signalled());
	return 0;
}
