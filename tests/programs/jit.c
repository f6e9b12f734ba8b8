/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes code while it runs, as a JIT compiler does: those bytes are in no file. Twice on the same page; in
 * place of code that ran, there and in a page that was unmapped in between; and an instruction changes
 * itself. Or else:
 *
 *	jit once	only the first
 *	jit elsewhere	through another mapping of the page, which is writable
 *	jit attached	the same with System V shared memory
 *	jit many	so many functions that no cache of translated code holds them,
 *			while a thread waits in a call
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* mov $42,%eax; 1: dec %eax; jnz 1b; mov $7,%eax; ret */
static const unsigned char loop[] = {0xb8, 42, 0, 0, 0, 0xff, 0xc8, 0x75, 0xfc, 0xb8, 7, 0, 0, 0, 0xc3};
/* xor %eax,%eax; jz 1f; nop; 1: jmp 2f; nop; 2: mov $9,%eax; ret */
static const unsigned char jumps[] = {0x31, 0xc0, 0x74, 1, 0x90, 0xeb, 1, 0x90, 0xb8, 9, 0, 0, 0, 0xc3};
/* movb $N,1f+1(%rip); 1: jmp .+2; nop; nop; mov $3,%eax; ret: jumps over N nops */
static const unsigned char changing[] = {0xc6, 5, 1, 0, 0, 0, 0, 0xeb, 0, 0x90, 0x90, 0xb8, 3, 0, 0, 0, 0xc3};

static int call(const unsigned char *code)
{
	return ((int (*)(void))(void *)code)();
}

static int emit_and_call(unsigned char *at, const unsigned char *code, size_t size)
{
	unsigned char *page = (unsigned char *)((size_t)at & ~(size_t)(PAGE - 1));

	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	memcpy(at, code, size);
	mprotect(page, PAGE, PROT_READ | PROT_EXEC);
	return call(at);
}

static unsigned char *map(void *where)
{
	return mmap(where, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);
}

/* The same memory is at both addresses. */
static int write_elsewhere(unsigned char *code, unsigned char *run)
{
	int sum = 0;

	for (int i = 0; i < 4; i++) {
		memcpy(code, i % 2 ? loop : jumps, i % 2 ? sizeof(loop) : sizeof(jumps));
		sum += call(run);
	}
	printf("%d\n", sum);
	return 0;
}

static int write_through_file(void)
{
	int fd = memfd_create("code", 0);
	unsigned char *code, *run;

	if (fd < 0 || ftruncate(fd, PAGE))
		return 1;
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	run = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (code == MAP_FAILED || run == MAP_FAILED || mprotect(run, PAGE, PROT_READ | PROT_EXEC))
		return 1;
	return write_elsewhere(code, run);
}

static int write_through_segment(void)
{
	int id = shmget(IPC_PRIVATE, PAGE, 0700);
	unsigned char *code = shmat(id, NULL, 0), *run = shmat(id, NULL, SHM_EXEC);
	int result = code == (void *)-1 || run == (void *)-1 ? 1 : write_elsewhere(code, run);

	shmdt(run);
	shmctl(id, IPC_RMID, NULL);
	return result;
}

static void *wait_in_call(void *arg)
{
	int *ends = arg;
	char byte = 0;

	for (int i = 0; i < 2; i++)
		if (read(ends[0], &byte, 1) != 1)
			return NULL;
	return (void *)(size_t)byte;
}

/* mov $NUMBER,%eax; ret */
static int make_many(void)
{
	enum { CNT = 560000, SIZE = 6, TURNS = 2 };
	unsigned char *code = mmap(NULL, (size_t)CNT * SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int sum = 0;
	pthread_t thread;
	void *result;
	int ends[2];

	if (code == MAP_FAILED || pipe(ends) || pthread_create(&thread, NULL, wait_in_call, ends))
		return 1;
	for (int i = 0; i < CNT; i++) {
		unsigned char *at = code + (size_t)i * SIZE;

		at[0] = 0xb8;
		memcpy(at + 1, &i, sizeof(i));
		at[SIZE - 1] = 0xc3;
	}
	for (int turn = 0; turn < TURNS; turn++) {
		for (int i = 0; i < CNT; i++)
			sum += (unsigned int)call(code + (size_t)i * SIZE);
		if (write(ends[1], "ab" + turn, 1) != 1)
			return 1;
	}
	pthread_join(thread, &result);
	printf("%u %d\n", sum, (int)(size_t)result);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned char *page = map(NULL);
	int sum;

	if (page == MAP_FAILED)
		return 1;
	if (argc > 1 && !strcmp(argv[1], "elsewhere"))
		return write_through_file();
	if (argc > 1 && !strcmp(argv[1], "attached"))
		return write_through_segment();
	if (argc > 1 && !strcmp(argv[1], "many"))
		return make_many();
	sum = emit_and_call(page, loop, sizeof(loop)) + emit_and_call(page + 64, loop, sizeof(loop));
	if (argc > 1 && !strcmp(argv[1], "once")) {
		printf("%d\n", sum);
		return 0;
	}
	for (int i = 0; i < 3; i++)
		sum += emit_and_call(page, i % 2 ? loop : jumps, i % 2 ? sizeof(loop) : sizeof(jumps));
	munmap(page, PAGE);
	map(page);
	sum += emit_and_call(page, loop, sizeof(loop));
	mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(page, changing, sizeof(changing));
	for (unsigned char i = 0; i < 6; i++) {
		page[6] = i % 3;
		sum += call(page);
	}
	printf("%d\n", sum);
	return 0;
}
