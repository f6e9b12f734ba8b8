/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that the compiler inlines, some of which call real functions. */
#include <stdio.h>

static inline __attribute__((always_inline)) int shout(const char *what)
{
	return puts(what);
}

static inline __attribute__((always_inline)) int greet(int who)
{
	int said = shout("hello");

	if (who > 1)
		said += shout("again");
	return said;
}

__attribute__((noinline)) int party(int guests)
{
	int said = greet(guests);

	said += puts("between");
	return said + greet(guests - 1);
}

int main(void)
{
	return party(2) < 0;
}
