/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information gives callers of code without frame pointers, too, and says which frame is the
 * outermost. Frame pointers, which the kernel followed at the hit, serve where it ends:
 *
 * 	frames by call frame information	a b c d			the copy of the stack ends here
 * 	frames by frame pointers		a b . d e f g		continues from a frame that both have
 *
 * In code without frame pointers these may point anywhere: only an address of code counts as a frame. Stacks
 * are unwound at once and not when the trace is decoded, because a copy of the stack is large, and holds
 * private data of the program.
 */
#include "capture/hit_stacks.h"

#include <string.h>

#include "base/array.h"
#include "image/image.h"
#include "image/unwind.h"
#include "source/process_image.h"

struct hit_stacks {
	struct image_objects *objects;
	struct process {
		pid_t pid;
		struct image *image;
	} * processes;
	size_t cnt, cap;
	uint64_t change; /* counts mappings: the time of an image */
};

int hit_stacks_new(struct hit_stacks **ret_stacks)
{
	CLEANUP(hit_stacks_freep) struct hit_stacks *stacks = calloc(1, sizeof(*stacks));
	int err = stacks ? image_objects_new(&stacks->objects) : -ENOMEM;

	if (!err)
		*ret_stacks = TAKE_PTR(stacks);
	return err;
}

void hit_stacks_free(struct hit_stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < stacks->cnt; i++)
		image_free(stacks->processes[i].image);
	free(stacks->processes);
	if (stacks->objects)
		image_objects_free(stacks->objects);
	free(stacks);
}

static struct image *find(const struct hit_stacks *stacks, pid_t pid)
{
	for (size_t i = 0; i < stacks->cnt; i++)
		if (stacks->processes[i].pid == pid)
			return stacks->processes[i].image;
	return NULL;
}

static int add(struct hit_stacks *stacks, pid_t pid, struct image **ret_image)
{
	struct process process = {.pid = pid};
	int err = image_new(&process.image, stacks->objects);

	if (err)
		return err;
	err = ARRAY_PUSH(stacks->processes, stacks->cnt, stacks->cap, process);
	if (err)
		image_free(process.image);
	else
		*ret_image = process.image;
	return err;
}

int hit_stacks_map(struct hit_stacks *stacks, pid_t pid, const struct sideband_mapping *mapping)
{
	struct image *image = find(stacks, pid);
	int err = image ? 0 : add(stacks, pid, &image);

	return err ? err : process_image_map(image, pid, ++stacks->change, mapping);
}

bool hit_stacks_offset(const struct hit_stacks *stacks, const struct hit *hit, uint64_t *ret_offset)
{
	struct image *image = find(stacks, (pid_t)hit->pid);
	uint64_t ip = hit_reg(hit, HIT_IP);
	const struct image_section *section =
		image ? image_section_at(image, image_version_cnt(image) - 1, ip) : NULL;

	if (section)
		*ret_offset = ip - section->addr + section->file_offset;
	return section;
}

/* ---- one stack ---- */

struct finding {
	struct image *image;
	size_t version;
	const struct caught_hit *hit;
	const uint8_t *copy;
	size_t size;
	bool is_cut; /* the outermost frame has a caller, which is not known */
};

/* A return address is after its call. */
static bool is_code(const struct finding *finding, uint64_t return_address)
{
	return return_address && image_section_at(finding->image, finding->version, return_address - 1);
}

static size_t unwind_from(struct finding *finding, const uint64_t *regs, size_t skipped, uint64_t *ret_ips,
			  size_t cap)
{
	struct unwound unwound = {.ips = ret_ips, .cap = cap};

	unwind_frames(finding->image, finding->version, regs, finding->copy + skipped,
		      finding->size - skipped, &unwound);
	finding->is_cut = !unwound.is_whole && !unwound.is_switched;
	return unwound.cnt;
}

/* Nothing is pushed yet: the registers are those of the caller after the return. */
static size_t unwind_entry(struct finding *finding, uint64_t *ret_ips)
{
	uint64_t regs[HIT_REG_CNT];
	size_t cnt;

	memcpy(regs, finding->hit->regs, sizeof(regs));
	ret_ips[0] = regs[HIT_IP];
	if (!is_code(finding, finding->hit->hit.return_address))
		return unwind_from(finding, regs, 0, ret_ips, 1);
	regs[HIT_IP] = finding->hit->hit.return_address - 1;
	regs[HIT_SP] += sizeof(uint64_t);
	cnt = unwind_from(finding, regs, sizeof(uint64_t), ret_ips + 1, HIT_STACK_MAX - 1);
	ret_ips[1] = finding->hit->hit.return_address;
	return cnt + 1;
}

static size_t unwind(struct finding *finding, bool is_entry, uint64_t *ret_ips)
{
	return is_entry && finding->size >= sizeof(uint64_t)
		       ? unwind_entry(finding, ret_ips)
		       : unwind_from(finding, finding->hit->regs, 0, ret_ips, HIT_STACK_MAX);
}

/* Adds the frames that frame pointers give beyond the outermost one, if both have it. */
static size_t go_on(struct finding *finding, uint64_t *ips, size_t cnt)
{
	const struct caught_hit *hit = finding->hit;
	size_t at = 0;

	while (at < hit->hit.stack_cnt && hit->stack[at] != ips[cnt - 1])
		at++;
	while (++at < hit->hit.stack_cnt && cnt < HIT_STACK_MAX && is_code(finding, hit->stack[at])) {
		ips[cnt++] = hit->stack[at];
		finding->is_cut = false;
	}
	return cnt;
}

void hit_stacks_find(struct hit_stacks *stacks, struct caught_hit *hit, const uint8_t *copy, size_t size,
		     bool is_entry)
{
	struct finding finding = {
		.image = find(stacks, (pid_t)hit->hit.pid), .hit = hit, .copy = copy, .size = size};
	uint64_t ips[HIT_STACK_MAX] = {hit->regs[HIT_IP]};
	size_t cnt = 1;

	if (finding.image) {
		finding.version = image_version_cnt(finding.image) - 1;
		cnt = unwind(&finding, is_entry, ips);
		cnt = go_on(&finding, ips, cnt);
	} else if (is_entry && hit->hit.return_address) {
		ips[cnt++] = hit->hit.return_address;
	}
	hit->hit.action = (uint16_t)(hit->hit.action | (finding.is_cut ? HIT_CUT : 0));
	memcpy(hit->stack, ips, cnt * sizeof(*ips));
	hit->hit.stack_cnt = (uint16_t)cnt;
	if (!(hit->hit.action & HIT_RETURN))
		hit->hit.return_address = cnt > 1 ? ips[1] : 0;
}
