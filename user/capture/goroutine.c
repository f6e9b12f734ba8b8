/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In functions of the older ABI, and of C, HIT_GO_G can hold anything. A runtime.g begins with the bounds of
 * its stack: the register points to one if the stack pointer is between them. The number does not change
 * while the goroutine lives, so that it may be read some time after the hit.
 */
#include "capture/goroutine.h"

#include "elf/elf_file.h"
#include "process/memory.h"

static bool peek(uint32_t pid, uint64_t addr, void *bytes, size_t size)
{
	return memory_read((pid_t)pid, addr, bytes, size) == size;
}

static void find_offset(struct goid *goid, const struct trigger *trigger)
{
	CLEANUP(elf_file_closep) struct elf_file *file = NULL;

	goid->sought = true;
	if (trigger->probe_cnt && !elf_file_open(&file, trigger->probes[0].path))
		goid->known = !elf_file_go_goid(file, &goid->offset);
}

uint64_t goroutine_of(struct goid *goid, const struct trigger *trigger, const struct caught_hit *hit)
{
	uint64_t g = hit->regs[HIT_GO_G], sp = hit->regs[HIT_SP], bounds[2], number;

	if (!goid->sought)
		find_offset(goid, trigger);
	if (!goid->known || !peek(hit->hit.pid, g, bounds, sizeof(bounds)) || sp < bounds[0] ||
	    sp > bounds[1] || !peek(hit->hit.pid, g + goid->offset, &number, sizeof(number)))
		return 0;
	return number;
}
