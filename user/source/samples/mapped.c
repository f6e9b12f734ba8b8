/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/samples/mapped.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/error.h"

int mapped_map(struct mapped *ret_mapped, const struct bpf_map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), each = (bpf_map__value_size(map) + 7u) & ~7ull;
	size_t size = (each * bpf_map__max_entries(map) + page - 1) & ~(page - 1);
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (bytes == MAP_FAILED)
		return fail_errno(-errno, "cannot map rings of %zu KiB", size >> 10);
	*ret_mapped = (struct mapped){bytes, size, each};
	return 0;
}

int mapped_new(struct mapped *ret_mapped, size_t each, size_t cnt)
{
	void *bytes = mmap(NULL, each * cnt, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return fail_errno(-errno, "no memory for rings of %zu KiB (--snapshot-size)",
				  each * cnt >> 10);
	*ret_mapped = (struct mapped){bytes, each * cnt, each};
	return 0;
}

void mapped_release(struct mapped *mapped)
{
	if (mapped->bytes)
		munmap(mapped->bytes, mapped->size);
	*mapped = (struct mapped){0};
}
