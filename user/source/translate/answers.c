/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runtime asks for what only can be seen from outside: what the file has where memory has a
 * breakpoint, and which memory may be executed; and that the new mappings be noted. It waits for the
 * answer, or for our death.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "model/sideband.h"
#include "probe/probe_map.h"
#include "source/translate/made_code.h"
#include "source/translate/translate_internal.h"

/* What the file has where memory has a breakpoint; the same where no file is mapped. */
static void read_original(const struct answers *answers, struct context *context)
{
	CLEANUP(maps_release) struct maps maps = {0};
	const struct map *map = maps_read(&maps, answers->pid) ? NULL : maps_find(&maps, context->next);
	CLEANUP(closep) int fd = map ? open(map->mapping.name, O_RDONLY | O_CLOEXEC) : -1;

	memset(context->original, 0, sizeof(context->original));
	context->original[0] = 0xcc;
	context->original_at = context->next;
	context->nop = map && answers->probes
			       ? (uint64_t)(probe_map_find(answers->probes, &map->mapping, context->next) + 1)
			       : 0;
	if (fd >= 0 && pread(fd, context->original, sizeof(context->original),
			     (off_t)(context->next - map->mapping.addr + map->mapping.file_offset)) < 1)
		context->original[0] = 0xcc;
}

static void find_executable(const struct answers *answers, struct context *context)
{
	CLEANUP(maps_release) struct maps maps = {0};
	const uint64_t page = context->next & ~(uint64_t)4095;
	bool is_known = !maps_read(&maps, answers->pid);
	const struct map *map = is_known ? maps_find(&maps, context->next) : NULL;

	/* Where that cannot be found out, it may be. */
	context->executable_start = map ? map->mapping.addr : is_known ? 0 : page;
	context->executable_end = map ? map->mapping.addr + map->mapping.size : is_known ? 0 : page + 4096;
	context->executable_changes = map && (map->writable || map->shared);
}

static void find_mapping(const struct answers *answers, struct context *context)
{
	CLEANUP(fclosep) FILE *file = NULL;
	CLEANUP(freep) char *line = NULL;
	uint64_t start, end;
	size_t line_cap = 0;
	char path[64];

	context->mapping_end = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)answers->pid);
	file = fopen(path, "re");
	while (file && !context->mapping_end && getline(&line, &line_cap, file) > 0) {
		/* What lies above is the kernel's. */
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || end <= context->next ||
		    end >> 63 || arena_is_ours(answers->arena, start))
			continue;
		context->mapping_start = start;
		context->mapping_end = end;
	}
}

/* When the new code was not there yet, or stood there and did not run. CLOCK_MONOTONIC. */
static uint64_t before_maps(const struct answers *answers, const struct context *context)
{
	const uint64_t now = clock_kernel_ns();
	const struct tsc_clock clock = tsc_clock_since(&answers->start);
	const uint64_t owed = context->owed_tsc ? tsc_clock_ns(&clock, context->owed_tsc) : now;

	return owed < now ? owed : now;
}

static void note_maps(struct answers *answers, const struct context *context)
{
	struct maps maps = {0};
	uint64_t now = before_maps(answers, context);

	if (maps_read(&maps, answers->pid))
		return;
	pthread_mutex_lock(&answers->lock);
	ARRAY_PUSH(answers->changes.times, answers->changes.cnt, answers->changes.cap, now);
	for (size_t i = 0; i < maps.cnt; i++) {
		const struct sideband_mapping *mapping = &maps.items[i].mapping;

		if (arena_is_ours(answers->arena, mapping->addr))
			continue;
		if (!maps_has(&answers->maps, &maps.items[i]))
			sideband_add_mmap(answers->sideband, answers->pid, context->tid, now, mapping);
	}
	maps_release(&answers->maps);
	answers->maps = maps;
	pthread_mutex_unlock(&answers->lock);
}

/* Threads take the first free slot, so none behind this one was ever taken: their pages are not touched. */
static bool was_never_taken(const struct context *context)
{
	return !__atomic_load_n(&context->tid, __ATOMIC_ACQUIRE) && !context->self;
}

static void answer(struct answers *answers, struct context *context)
{
	uint32_t request = __atomic_load_n(&context->request, __ATOMIC_ACQUIRE);

	if (request == REQUEST_NOTHING)
		return;
	if (request == REQUEST_ORIGINAL)
		read_original(answers, context);
	else if (request == REQUEST_EXECUTABLE)
		find_executable(answers, context);
	else if (request == REQUEST_MAPPING)
		find_mapping(answers, context);
	else
		note_maps(answers, context);
	__atomic_store_n(&context->request, REQUEST_NOTHING, __ATOMIC_RELEASE);
	syscall(SYS_futex, &context->request, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *run(void *ctx)
{
	struct answers *answers = ctx;
	uint32_t *requests = (uint32_t *)&arena_shared(answers->arena)->requests;

	while (!__atomic_load_n(&answers->ends, __ATOMIC_ACQUIRE)) {
		const struct timespec moment = {.tv_nsec = 100000000};
		uint32_t seen = __atomic_load_n(requests, __ATOMIC_ACQUIRE);

		for (int slot = 0; slot < (int)answers->arena->slot_cnt; slot++) {
			struct context *context = arena_context(answers->arena, slot);

			if (was_never_taken(context))
				break;
			answer(answers, context);
		}
		syscall(SYS_futex, requests, FUTEX_WAIT, seen, &moment, NULL, 0);
	}
	return NULL;
}

int answers_start(struct answers **ret_answers, struct arena *arena, pid_t pid,
		  const struct probe_map *probes)
{
	struct answers *answers = calloc(1, sizeof(*answers));
	int err = answers ? snapshot_new(&answers->sideband) : -ENOMEM;

	if (err) {
		free(answers);
		return err;
	}
	answers->pid = pid;
	answers->probes = probes;
	answers->arena = arena;
	answers->start = tsc_now();
	pthread_mutex_init(&answers->lock, NULL);
	if (!maps_read(&answers->first, pid) && !maps_read(&answers->maps, pid)) {
		err = -pthread_create(&answers->thread, NULL, run, answers);
		answers->runs = !err;
	}
	*ret_answers = answers;
	return err ? fail_errno(err, "cannot start a thread") : 0;
}

bool answers_have_told(struct answers *answers, const struct map *map)
{
	bool has_told;

	pthread_mutex_lock(&answers->lock);
	has_told = maps_has(&answers->maps, map) && !maps_has(&answers->first, map);
	pthread_mutex_unlock(&answers->lock);
	return has_told;
}

int answers_changes(struct answers *answers, struct code_changes *ret_changes)
{
	int err;

	*ret_changes = (struct code_changes){0};
	pthread_mutex_lock(&answers->lock);
	err = array_reserve(&ret_changes->times, &ret_changes->cap, answers->changes.cnt + 1,
			    sizeof(uint64_t));
	for (; !err && ret_changes->cnt < answers->changes.cnt; ret_changes->cnt++)
		ret_changes->times[ret_changes->cnt] = answers->changes.times[ret_changes->cnt];
	pthread_mutex_unlock(&answers->lock);
	return err;
}

int answers_add_code(struct answers *answers, const struct tsc_clock *clock, struct snapshot *snapshot)
{
	int err;

	pthread_mutex_lock(&answers->lock);
	err = made_code_add(answers->arena, answers->pid, &answers->maps, clock, snapshot);
	pthread_mutex_unlock(&answers->lock);
	return err;
}

int answers_take(struct answers *answers, struct snapshot *snapshot)
{
	struct snapshot *from = answers->sideband;
	int err;

	pthread_mutex_lock(&answers->lock);
	err = array_reserve(&snapshot->sideband, &snapshot->sideband_cap,
			    snapshot->sideband_size + from->sideband_size, 1);
	if (!err && from->sideband_size) {
		memcpy(snapshot->sideband + snapshot->sideband_size, from->sideband, from->sideband_size);
		snapshot->sideband_size += from->sideband_size;
		from->sideband_size = 0;
	}
	pthread_mutex_unlock(&answers->lock);
	return err;
}

void answers_free(struct answers *answers)
{
	if (!answers)
		return;
	__atomic_store_n(&answers->ends, true, __ATOMIC_RELEASE);
	if (answers->runs) {
		syscall(SYS_futex, &arena_shared(answers->arena)->requests, FUTEX_WAKE, 1, NULL, NULL, 0);
		pthread_join(answers->thread, NULL);
	}
	pthread_mutex_destroy(&answers->lock);
	maps_release(&answers->maps);
	maps_release(&answers->first);
	snapshot_free(answers->sideband);
	free(answers->changes.times);
	free(answers);
}
