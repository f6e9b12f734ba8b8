/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { PAGE = 4096, PAGES_AT_ONCE = 16 };

/* The kernel reads no piece in part (process_vm_readv(2)). */
size_t memory_read(pid_t tid, uint64_t at, void *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		struct iovec ours = {(uint8_t *)bytes + done, 0}, theirs[PAGES_AT_ONCE];
		size_t cnt = 0;
		ssize_t got;

		while (cnt < PAGES_AT_ONCE && done + ours.iov_len < size) {
			uint64_t next = at + done + ours.iov_len;
			size_t piece = PAGE - next % PAGE, rest = size - done - ours.iov_len;

			theirs[cnt++] = (struct iovec){(void *)next, piece < rest ? piece : rest};
			ours.iov_len += theirs[cnt - 1].iov_len;
		}
		got = process_vm_readv(tid, &ours, 1, theirs, cnt, 0);
		done += got > 0 ? (size_t)got : 0;
		if (got != (ssize_t)ours.iov_len)
			break;
	}
	return done;
}

int memory_poke(pid_t tid, uint64_t to, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(long)) {
		long word;

		memcpy(&word, (const char *)bytes + i, sizeof(word));
		if (ptrace(PTRACE_POKEDATA, tid, (void *)(to + i), (void *)word))
			return -errno;
	}
	return 0;
}
