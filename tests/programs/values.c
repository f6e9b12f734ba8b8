/* SPDX-License-Identifier: BSD-2-Clause */
/* USDT probes with arguments of all kinds and in all places, and calls with values that are easy to tell. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* As sys/sdt.h does it: `args` is the text of the note. */
#define PROBE(name, args, ...)                                          \
	__asm__ volatile("990: nop\n"                                   \
			 ".pushsection .note.stapsdt, \"\", \"note\"\n" \
			 ".balign 4\n"                                  \
			 ".4byte 992f - 991f, 994f - 993f, 3\n"         \
			 "991: .asciz \"stapsdt\"\n"                    \
			 "992: .balign 4\n"                             \
			 "993: .8byte 990b, 0, 0\n"                     \
			 ".asciz \"values\"\n"                          \
			 ".asciz \"" #name "\"\n"                       \
			 ".asciz \"" args "\"\n"                        \
			 "994: .balign 4\n"                             \
			 ".popsection\n" ::__VA_ARGS__)

enum level { LOW = -3, HIGH = 9 };

struct owner {
	char name[8];
	struct {
		int16_t level, rank;
	} of;
	unsigned int low : 5, bits : 3;
	long wide : 40;
};

struct buffer {
	uint32_t used, len;
	const char *name;
	const struct owner *owner;
};

int64_t shared_number = 0x1122334455667788;

static void __attribute__((noinline)) kinds(int round)
{
	volatile int on_stack = -1000 - round;
	volatile unsigned char bytes[4] = {1, 2, 250, 4};
	/* The note says how much of the register counts. */
	uint64_t wide = 0xdeadbeef00000000 | (uint32_t)-7;
	double real = 1.5;

	PROBE(kinds, "-4@$-9 -4@%k0 -4@%1 8@%2 1@%3 8@%4 2@%w5 8@%q6 -8@$1234567890123 8@%7", "r"(wide),
	      "m"(on_stack), "m"(shared_number), "m"(bytes[2]), "x"(real), "r"((uint64_t)0xffff8001),
	      "r"((uint64_t)round), "r"(&shared_number));
}

/* Two places of one probe, the same argument elsewhere. */
static void __attribute__((noinline)) first(long number)
{
	PROBE(twice, "8@%0", "b"(number));
}

static void __attribute__((noinline)) second(long number)
{
	volatile long saved[4] = {0, 0, 0, number};
	long at = 3;

	PROBE(twice, "8@(%0,%1,8)", "r"(saved), "r"(at));
}

long take(const struct buffer *buffer, const char *text, int number, char letter, unsigned long large);
long __attribute__((noinline))
take(const struct buffer *buffer, const char *text, int number, char letter, unsigned long large)
{
	return (long)buffer->used - (long)buffer->len + number + letter + (text ? *text : 0) +
	       (long)(large & 1);
}

double half(double real, const struct owner *owner);
double __attribute__((noinline)) half(double real, const struct owner *owner)
{
	return real / 2 + owner->low;
}

int main(int argc, char **argv)
{
	struct owner owner = {"nobody", {LOW, HIGH}, 9, 5, -1234567890123 / 8};
	struct buffer buffer = {7, 4096, "a buffer", &owner};
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	long sum = 0;

	for (int i = 1; i <= rounds; i++) {
		char text[64];

		snprintf(text, sizeof(text), "query %d\n\t\"end\"", i);
		kinds(i);
		first(100 + i);
		second(200 + i);
		sum += take(&buffer, i == 2 ? NULL : text, -i, (char)('a' + i),
			    0xffffffffffffff00ul + (unsigned)i);
		sum += (long)half(i, &owner) & 1;
	}
	printf("%ld\n", sum);
	return 0;
}
