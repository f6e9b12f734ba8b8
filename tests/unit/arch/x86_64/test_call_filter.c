/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/array.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALU(op, k)  BPF_STMT(BPF_ALU | BPF_##op | BPF_K, k)
#define ALU_X(op)   BPF_STMT(BPF_ALU | BPF_##op | BPF_X, 0)
#define TAX	    BPF_STMT(BPF_MISC | BPF_TAX, 0)
#define TXA	    BPF_STMT(BPF_MISC | BPF_TXA, 0)

/* Each leaves a number in the accumulator, of a call whose arguments are 1000, 7 and 77. */
static const struct sock_filter numbers[][6] = {
	{LOAD(args[0])},
	{LOAD(nr), ALU(ADD, 3)},
	{LOAD(args[1]), TAX, LOAD(args[0]), ALU_X(SUB)},
	{LOAD(args[1]), TAX, LOAD(args[2]), ALU_X(MUL), ALU(RSH, 1)},
	{LOAD(args[1]), TAX, LOAD(args[0]), ALU_X(DIV)},
	{LOAD(args[1]), TAX, LOAD(args[0]), ALU_X(LSH), ALU(XOR, 0x55)},
	{LOAD(args[0]), ALU(OR, 0x804), ALU(AND, 0xfc6)},
	{LOAD(args[0]), ALU(NEG, 0), ALU(RSH, 20)},
	{LOAD(args[2]), BPF_STMT(BPF_ST, 5), ALU(ADD, 1), TAX, BPF_STMT(BPF_LD | BPF_MEM, 5), ALU_X(ADD)},
	{BPF_STMT(BPF_LDX | BPF_IMM, 9), BPF_STMT(BPF_STX, 1), BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), TXA,
	 BPF_STMT(BPF_LD | BPF_MEM, 1), ALU(ADD, 2)},
	{LOAD(arch), ALU(AND, 0xff)},
	{LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 999, 1, 0), ALU(ADD, 1), ALU(ADD, 2)},
	{LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 1001, 0, 1), ALU(ADD, 1), ALU(ADD, 2)},
	{LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 8, 1, 0), ALU(ADD, 1), ALU(ADD, 2)},
	{LOAD(args[0]), TAX, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 1, 0), ALU(ADD, 1), ALU(ADD, 2)},
	{LOAD(args[0]), BPF_STMT(BPF_JMP | BPF_JA, 1), ALU(ADD, 1), ALU(ADD, 2)},
};

enum { NUMBER_INSNS = ARRAY_SIZE(numbers[0]), BEFORE = 3, AFTER = 3, INSNS = BEFORE + NUMBER_INSNS + AFTER };

/* Allows all but one call, which gets the number as its error. */
static size_t make_filter(struct sock_filter filter[static INSNS], const struct sock_filter *number)
{
	const struct sock_filter before[BEFORE] = {LOAD(nr),
						   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 1, 0),
						   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_filter after[AFTER] = {ALU(AND, 0xfff), ALU(OR, SECCOMP_RET_ERRNO),
						 BPF_STMT(BPF_RET | BPF_A, 0)};
	size_t cnt = BEFORE;

	memcpy(filter, before, sizeof(before));
	for (size_t i = 0; i < NUMBER_INSNS && (number[i].code || number[i].k); i++)
		filter[cnt++] = number[i];
	memcpy(&filter[cnt], after, sizeof(after));
	return cnt + AFTER;
}

/* The error of the call under the filter, as the kernel has it. */
static int kernel_says(struct sock_filter *filter, size_t cnt)
{
	const struct sock_fprog program = {.len = (unsigned short)cnt, .filter = filter};
	int status, ends[2];
	int err = -1;

	assert_ok(pipe(ends));
	if (!fork()) {
		if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
		    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
			err = syscall(SYS_getpriority, 1000, 7, 77) < 0 ? errno : 0;
			if (write(ends[1], &err, sizeof(err)) < 0)
				_exit(1);
		}
		_exit(0);
	}
	wait(&status);
	close(ends[1]);
	if (read(ends[0], &err, sizeof(err)) != sizeof(err))
		err = -1;
	close(ends[0]);
	return err;
}

TEST(test_as_the_kernel)
{
	const struct seccomp_data data = {
		.nr = SYS_getpriority, .arch = AUDIT_ARCH_X86_64, .args = {1000, 7, 77}};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct sock_filter filter[INSNS];
		size_t cnt = make_filter(filter, numbers[i]);
		int want = kernel_says(filter, cnt);

		/* No filter can be set here. */
		if (want < 0)
			skip();
		assert_int_equal(filter_action(filter, cnt, &data), SECCOMP_RET_ERRNO | (uint32_t)want);
	}
}

/* The kernel takes none that does not end by a return. */
TEST(test_does_not_end)
{
	const struct sock_filter endless = LOAD(nr);
	const struct seccomp_data data = {.nr = SYS_getpid};

	assert_int_equal(filter_action(&endless, 1, &data), SECCOMP_RET_KILL_PROCESS);
}

TEST_MAIN(NULL, NULL)
