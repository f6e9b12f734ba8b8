/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes code while it runs, twice on the same page, as a JIT compiler does: those bytes are in no file. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* mov $42,%eax; 1: dec %eax; jnz 1b; mov $7,%eax; ret */
static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xff, 0xc8, 0x75, 0xfc, 0xb8, 7, 0, 0, 0, 0xc3};

static int emit_and_call(unsigned char *page, size_t at)
{
	int (*function)(void) = (int (*)(void))(void *)(page + at);

	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	memcpy(page + at, code, sizeof(code));
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	return function();
}

int main(void)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return 1;
	printf("%d\n", emit_and_call(page, 0) + emit_and_call(page, 64));
	return 0;
}
