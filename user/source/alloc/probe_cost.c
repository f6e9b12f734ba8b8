/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two functions that begin with one instruction of each kind, and a loop around them: the least of several
 * rounds, since others use the processor, too.
 */
#include "source/alloc/probe_cost.h"

#include <errno.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "process/maps.h"
#include "trigger/links.h"

enum { ROUNDS = 5, CALLS = 40 };

void probe_cost_emulated(void *nothing);
void probe_cost_stepped(void *nothing);

__asm__(".pushsection .text\n"
	".type probe_cost_emulated, @function\n"
	"probe_cost_emulated: nop\n"
	"ret\n"
	".size probe_cost_emulated, . - probe_cost_emulated\n"
	".type probe_cost_stepped, @function\n"
	"probe_cost_stepped: mov %rdi, %rax\n"
	"ret\n"
	".size probe_cost_stepped, . - probe_cost_stepped\n"
	".popsection\n");

static double call_ns(void (*function)(void *nothing))
{
	double least = 0;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = clock_kernel_ns();
		double ns;

		for (int j = 0; j < CALLS; j++)
			function(NULL);
		ns = (double)(clock_kernel_ns() - start) / CALLS;
		if (!i || ns < least)
			least = ns;
	}
	return least;
}

static int plan(struct links *links, struct probe *probes, const uintptr_t *addrs, size_t cnt, int prog_fd)
{
	CLEANUP(maps_release) struct maps maps = {0};
	int err = maps_read(&maps, getpid());

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct map *map = maps_find(&maps, addrs[i]);

		if (!map)
			return fail(-ENOENT, "this program's own code is not mapped");
		probes[i] = (struct probe){
			.path = (char *)"/proc/self/exe",
			.symbol = (char *)"probe_cost",
			.file_offset = map->mapping.file_offset + (addrs[i] - map->mapping.addr),
		};
		err = links_plan_probe(links, &probes[i], 0, prog_fd, UPROBE_ENTRY);
	}
	return err;
}

int probe_cost_measure(struct probe_cost *ret_cost, int prog_fd, bool by_perf)
{
	const uintptr_t addrs[] = {(uintptr_t)probe_cost_emulated, (uintptr_t)probe_cost_stepped};
	CLEANUP(links_release) struct links links = {0};
	struct probe probes[ARRAY_SIZE(addrs)];
	int err = plan(&links, probes, addrs, ARRAY_SIZE(addrs), prog_fd);

	if (!err)
		err = by_perf ? links_attach_perf(&links, getpid()) : links_attach_multi(&links, getpid());
	if (err)
		return err;
	*ret_cost = (struct probe_cost){call_ns(probe_cost_emulated), call_ns(probe_cost_stepped)};
	return 0;
}
