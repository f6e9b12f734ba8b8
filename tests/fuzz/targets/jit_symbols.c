/* SPDX-License-Identifier: BSD-2-Clause */
/* What a JIT compiler claims to have made: a perf map, a jitdump, and what was read of a JVM. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/jit_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(closep) int fd = memfd_create("input", MFD_CLOEXEC);
	struct jit_symbols symbols = {0}, kernel = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		return 0;
	jit_symbols_read_map(&symbols, path);
	jit_symbols_read_dump(&symbols, path);
	jit_symbols_read_jvm(&symbols, path);
	jit_symbols_read_kernel(&kernel, path);
	jit_symbols_release(&kernel);
	if (!jit_symbols_sort(&symbols))
		for (size_t i = 0; i < symbols.cnt; i++)
			if ((!jit_symbols_find(&symbols, symbols.items[i].symbol.start, UINT64_MAX) &&
			     symbols.items[i].since != UINT64_MAX) ||
			    symbols.items[i].code_offset >= size)
				abort();
	jit_symbols_release(&symbols);
	return 0;
}
