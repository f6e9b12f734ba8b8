/* SPDX-License-Identifier: BSD-2-Clause */
/* memtrace's CTF: the timeline that `trailcam memtrace convert` writes, too. */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "heap/heap_timeline.h"
#include "rebuild/decoded.h"
#include "rebuild/input.h"

struct held {
	struct memtrace *trace;
	struct memtrace_shown *shown;
};

static void free_held(void *ctx)
{
	struct held *held = ctx;

	if (held && held->shown)
		memtrace_shown_free(held->shown);
	if (held && held->trace)
		memtrace_free(held->trace);
	free(held);
}

static int read_memtrace(struct decoded *decoded, const char *path, const struct decode_config *config)
{
	struct held *held = calloc(1, sizeof(*held));
	int err = held ? memtrace_load(&held->trace, path, NULL) : -ENOMEM;

	(void)config;
	decoded->symbols = held;
	decoded->free_symbols = free_held;
	if (!err)
		err = memtrace_show(&held->shown, held->trace);
	if (err)
		return err == -ENOMEM ? fail(err, "no memory for the allocations of %s", path) : err;
	memtrace_tell_losses(held->trace);
	timeline_free(decoded->timeline);
	decoded->timeline = memtrace_shown_take_timeline(held->shown);
	return 0;
}

const struct input input_memtrace = {.name = "memtrace", .is = memtrace_reader_is, .read = read_memtrace};
