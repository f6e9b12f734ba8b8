/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/alloc/alloc_unwind.h"

#include <string.h>

#include "image/unwind.h"

int alloc_unwind_init(struct alloc_unwind *unwind, const struct alloc_recorder *recorder,
		      const struct alloc_recorder_config *config)
{
	unwind->recorder = recorder;
	return process_image_new(&unwind->process, config->pid, config->is_running);
}

void alloc_unwind_release(struct alloc_unwind *unwind)
{
	process_image_free(unwind->process);
	unwind->process = NULL;
}

/* A function of the allocator that told of the allocation: it is as little of interest as malloc(). */
static bool is_teller(const struct alloc_unwind *unwind, size_t version, uint64_t ip)
{
	const char *teller = alloc_recorder_teller(unwind->recorder);
	const struct image_section *section =
		teller ? image_section_at(process_image_get(unwind->process), version, ip) : NULL;

	return section && section->path && !strcmp(section->path, teller);
}

int alloc_unwind_find(struct alloc_unwind *unwind, const struct alloc *alloc, const struct alloc_stack *stack,
		      struct alloc_frames *ret_frames)
{
	struct image *image = process_image_get(unwind->process);
	const uint64_t *ips = stack->ip_cnt ? stack->ips : unwind->ips;
	size_t version, cnt, first = 0, end;
	int err = process_image_at(unwind->process, alloc->time_ns, &version);

	if (err)
		return err;
	cnt = stack->ip_cnt ? stack->ip_cnt
			    : unwind_stack(image, version, stack->regs, stack->bytes, stack->size,
					   unwind->ips, ALLOC_FRAMES_MAX);
	while (first + 1 < cnt && is_teller(unwind, version, ips[first]))
		first++;
	/* It ends at a frame pointer that was none. */
	for (end = first + (first < cnt); end < cnt && image_section_at(image, version, ips[end]);)
		end++;
	*ret_frames = (struct alloc_frames){version, ips + first, end - first};
	return 0;
}
