// SPDX-License-Identifier: BSD-2-Clause
// As allocs.c: every form of operator new and delete, and what a recording of all of it must hold. With an
// argument, nothing that is refused.
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <unistd.h>
#include <vector>

static void *volatile kept;

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void *take(void *memory, size_t size)
{
	char line[32];

	kept = memory;
	snprintf(line, sizeof(line), "alloc %zu\n", (size + 7) / 8);
	say(line);
	return memory;
}

static const std::align_val_t wide{256};

__attribute__((noinline)) static void each_new()
{
	::operator delete(take(::operator new(10), 10));
	say("collect\n");
	::operator delete(take(::operator new(20), 20), 20);
	say("collect\n");
	::operator delete[](take(::operator new[](30), 30));
	say("collect\n");
	::operator delete[](take(::operator new[](40), 40), 40);
	say("collect\n");
	::operator delete(take(::operator new(50, std::nothrow), 50), std::nothrow);
	say("collect\n");
	::operator delete[](take(::operator new[](60, std::nothrow), 60), std::nothrow);
	say("collect\n");
	::operator delete(take(::operator new(512, wide), 512), wide);
	say("collect\n");
	::operator delete[](take(::operator new[](768, wide), 768), wide);
	say("collect\n");
	::operator delete(take(::operator new(1024, wide, std::nothrow), 1024), wide, std::nothrow);
	say("collect\n");
	::operator delete[](take(::operator new[](1280, wide, std::nothrow), 1280), 1280, wide);
	say("collect\n");
}

__attribute__((noinline)) static void containers()
{
	std::vector<int> numbers(100);
	take(&numbers, 400);
	{
		std::string text(99, 'x');
		take(&text, 100);
	}
	say("collect\n");
	numbers = std::vector<int>();
	say("collect\n");
}

// What is too large is refused by an exception, whatever is recorded: what no machine could have, and what
// this one has not.
__attribute__((noinline)) static void refused(volatile size_t too_much)
{
	try {
		kept = ::operator new(too_much);
		_exit(1);
	} catch (const std::bad_alloc &) {
	}
}

// Further down the stack than the call that was refused.
__attribute__((noinline)) static void deeper()
{
	char room[4096];

	memset(room, 1, sizeof(room));
	each_new();
	__asm__ volatile("" ::"r"(room) : "memory");
}

int main(int argc, char **)
{
	each_new();
	containers();
	for (int i = 0; i < 3 && argc == 1; i++) {
		refused(static_cast<size_t>(-1) / 2);
		refused((static_cast<size_t>(1) << 47) - (1 << 20)); // all addresses that a process has
		deeper();
	}
	return 0;
}
