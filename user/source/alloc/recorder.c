/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaching falls back from one kind of link to the next, as triggers do (trigger/set.c). The first choice
 * here is a session link, whose program decides at the entry of a call whether its return is probed. The
 * kernel fixes the kind of link when a program is loaded, so each attempt loads again.
 */
#include "source/alloc/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "source/alloc/alloc_exits.h"
#include "source/alloc/allocators.h"
#include "source/alloc/probe_cost.h"
#include "trigger/links.h"
#include "trigger/own_namespace.h"
#include "trigger/privilege.h"
#include "trigger/programs.h"
#include "trigger/uprobe_multi.h"

/* speaks of the types of bpf/alloc_probe.h */
#include "bpf/alloc.skel.h"

enum {
	RING_BYTES = 16 << 20,
	RING_BYTES_DENSE = 64 << 20,
	DENSE = 512 << 10, /* intervals below it */
	READ_MAX = 1 << 16,
	STEPPED_NAMES = 4, /* in a warning */
};

struct alloc_recorder {
	struct alloc_functions functions;
	struct alloc_bpf *bpf;
	struct links links;
	struct ring_buffer *ring;
	enum alloc_link link; /* the rung in use: not AUTO */
	const char *teller;   /* alloc_recorder_teller() */
	/* of a read that is under way */
	int (*fn)(void *ctx, const struct alloc *alloc, const struct alloc_stack *stack);
	void *ctx;
	int cnt, stopped_by;
};

/* ---- records ---- */

static int hand_sample(struct alloc_recorder *recorder, const struct alloc_sample *sample)
{
	struct alloc_stack stack = {
		.regs = (const uint64_t *)sample->regs,
		.bytes = sample->tail,
		.size = sample->stack_bytes,
		.ips = (const uint64_t *)sample->tail,
		.ip_cnt = sample->ip_cnt,
	};

	return recorder->fn(recorder->ctx, &sample->alloc, &stack);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct alloc_recorder *recorder = ctx;
	const struct alloc *alloc = data;

	recorder->stopped_by = size >= sizeof(struct alloc_sample) ? hand_sample(recorder, data)
								   : recorder->fn(recorder->ctx, alloc, NULL);
	return recorder->stopped_by || ++recorder->cnt == READ_MAX ? -ECANCELED : 0;
}

int alloc_recorder_fd(const struct alloc_recorder *recorder)
{
	return ring_buffer__epoll_fd(recorder->ring);
}

int alloc_recorder_read(struct alloc_recorder *recorder,
			int (*fn)(void *ctx, const struct alloc *alloc, const struct alloc_stack *stack),
			void *ctx)
{
	recorder->fn = fn;
	recorder->ctx = ctx;
	recorder->cnt = 0;
	recorder->stopped_by = 0;
	ring_buffer__consume(recorder->ring);
	return recorder->stopped_by ? recorder->stopped_by : recorder->cnt;
}

/* ---- loading ---- */

static void choose_programs(struct alloc_bpf *bpf, enum alloc_link link)
{
	const bool session = link == ALLOC_LINK_SESSION;
	struct bpf_program *program;

	bpf_program__set_autoload(bpf->progs.alloc_session, session);
	bpf_program__set_autoload(bpf->progs.alloc_end, !session);
	if (link == ALLOC_LINK_PERF)
		return;
	bpf_object__for_each_program(program, bpf->obj) bpf_program__set_expected_attach_type(
		program,
		(enum bpf_attach_type)(program == bpf->progs.alloc_session ? UPROBE_SESSION_ATTACH_TYPE
									   : UPROBE_MULTI_ATTACH_TYPE));
}

static uint32_t ring_bytes(const struct alloc_recorder_config *config)
{
	return config->interval_bytes < DENSE ? RING_BYTES_DENSE : RING_BYTES;
}

static void set_up(const struct alloc_recorder *recorder, const struct alloc_recorder_config *config)
{
	enum { FINE = 256 }; /* FRACTION_BITS */
	struct alloc_bpf *bpf = recorder->bpf;

	bpf->rodata->interval = config->interval_bytes;
	bpf->rodata->interval_per_log = (uint64_t)((double)config->interval_bytes * FINE * M_LN2);
	bpf->rodata->tail_bytes =
		config->stack_bytes ? config->stack_bytes : ALLOC_IPS_MAX * sizeof(uint64_t);
	bpf->rodata->by_frame_pointers = !config->stack_bytes;
	bpf->rodata->ends_have_stacks = config->end_stacks;
	bpf->rodata->wake_bytes = ring_bytes(config) / 8;
	bpf->rodata->own = own_namespace();
	memcpy((void *)bpf->rodata->ranges, recorder->functions.ranges, sizeof(bpf->rodata->ranges));
	bpf_map__set_max_entries(bpf->maps.records, ring_bytes(config));
	bpf_map__set_max_entries(bpf->maps.live, config->live_max);
	for (size_t i = 0; alloc_functions_tell(&recorder->functions) && i < recorder->functions.cnt; i++)
		memcpy((void *)bpf->rodata->usdt_args[i], recorder->functions.items[i].args,
		       sizeof(bpf->rodata->usdt_args[i]));
}

static int load(struct alloc_recorder *recorder, const struct alloc_recorder_config *config,
		enum alloc_link link)
{
	struct alloc_bpf *bpf = recorder->bpf = alloc_bpf__open();
	int err;

	if (!bpf)
		return fail_errno(-errno, "cannot open the BPF program");
	set_up(recorder, config);
	choose_programs(bpf, link);
	err = alloc_bpf__load(bpf);
	if (err == -EPERM)
		return privilege_fail_bpf();
	if (err)
		return fail_errno(err, "the kernel does not accept the BPF program (-v shows why)");
	recorder->ring = ring_buffer__new(bpf_map__fd(bpf->maps.records), on_record, recorder, NULL);
	if (!recorder->ring)
		return fail_errno(-errno, "cannot map the BPF ring buffer of %u KiB",
				  ring_bytes(config) / 1024);
	recorder->link = link;
	return 0;
}

static void unload(struct alloc_recorder *recorder)
{
	links_release(&recorder->links);
	ring_buffer__free(recorder->ring);
	recorder->ring = NULL;
	alloc_bpf__destroy(recorder->bpf);
	recorder->bpf = NULL;
}

/* ---- attaching ---- */

static int plan(struct alloc_recorder *recorder, const struct alloc_function *function,
		const struct bpf_program *program, enum uprobe_at at)
{
	uint64_t cookie;

	memcpy(&cookie, &function->role, sizeof(cookie));
	return links_plan_probe(&recorder->links, &function->probe, cookie, bpf_program__fd(program), at);
}

/* What comes when an allocation begins, or all else. */
static int plan_function(struct alloc_recorder *recorder, const struct alloc_function *function, bool begin)
{
	const struct alloc_bpf *bpf = recorder->bpf;
	uint8_t call = function->role.call;

	if (alloc_functions_tell(&recorder->functions))
		return begin == (call == ALLOC_USDT_ALLOC)
			       ? plan(recorder, function, bpf->progs.alloc_usdt, UPROBE_ENTRY)
			       : 0;
	if (call == ALLOC_CALL_FREE)
		return begin ? 0 : plan(recorder, function, bpf->progs.alloc_free, UPROBE_ENTRY);
	if (function->role.exits)
		return begin ? plan(recorder, function, bpf->progs.alloc_begin, UPROBE_ENTRY) : 0;
	if (recorder->link == ALLOC_LINK_SESSION)
		return begin ? plan(recorder, function, bpf->progs.alloc_session, UPROBE_SESSION) : 0;
	return begin ? plan(recorder, function, bpf->progs.alloc_begin, UPROBE_ENTRY)
		     : plan(recorder, function, bpf->progs.alloc_end, UPROBE_RETURN);
}

/*
 * Ends first, because the process may run: no call is seen without its return, and no allocation is recorded
 * whose free is missed.
 */
static int plan_functions(struct alloc_recorder *recorder)
{
	const struct alloc_functions *functions = &recorder->functions;
	int err = 0;

	for (size_t i = 0; i < functions->exit_cnt && !err; i++)
		err = links_plan_probe(&recorder->links, &functions->exits[i], 0,
				       bpf_program__fd(recorder->bpf->progs.alloc_exit), UPROBE_ENTRY);
	for (size_t i = 0; i < functions->cnt && !err; i++)
		err = plan_function(recorder, &functions->items[i], false);
	for (size_t i = 0; i < functions->cnt && !err; i++)
		err = plan_function(recorder, &functions->items[i], true);
	return err;
}

static const char *obstacle_of(const struct alloc_recorder *recorder)
{
	const struct alloc_bpf *bpf = recorder->bpf;
	const char *obstacle = NULL;

	if (recorder->link == ALLOC_LINK_SESSION)
		obstacle = uprobe_session_obstacle(bpf_program__fd(bpf->progs.alloc_session));
	if (!obstacle && recorder->link != ALLOC_LINK_PERF)
		obstacle = uprobe_multi_obstacle(bpf_program__fd(bpf->progs.alloc_free));
	return obstacle;
}

/* "free, calloc and 3 others" */
static void list_stepped(const struct alloc_functions *functions, size_t cnt, char *text, size_t size)
{
	size_t len = 0, named = 0;

	for (size_t i = 0; i < functions->cnt && named < STEPPED_NAMES && len < size; i++) {
		if (!functions->items[i].is_dear)
			continue;
		len += (size_t)snprintf(text + len, size - len, "%s%s", named ? ", " : "",
					functions->items[i].name);
		named++;
	}
	if (cnt > named && len < size)
		snprintf(text + len, size - len, " and %zu other%s", cnt - named, cnt - named > 1 ? "s" : "");
}

/* What is probed for operator new costs only programs that call it. */
static size_t count_dear(struct alloc_functions *functions, const char *exe)
{
	bool exits_are_called = functions->exit_cnt && alloc_exits_are_called(exe);
	size_t cnt = 0;

	for (size_t i = 0; i < functions->cnt; i++) {
		struct alloc_function *function = &functions->items[i];

		function->is_dear = function->is_dear && (!function->role.exits || exits_are_called);
		cnt += function->is_dear;
	}
	return cnt;
}

/* What single steps cost differs much between machines, so it is measured. */
static void warn_of_stepped(struct alloc_recorder *recorder, const char *exe)
{
	size_t cnt = count_dear(&recorder->functions, exe);
	struct probe_cost cost;
	char names[1024];

	if (!cnt || probe_cost_measure(&cost, bpf_program__fd(recorder->bpf->progs.alloc_free),
				       recorder->link == ALLOC_LINK_PERF))
		return;
	list_stepped(&recorder->functions, cnt, names, sizeof(names));
	log_warn("each call of %s takes %.1f us longer (measured here), not %.1f: the kernel single-steps "
		 "the probed instruction; a program that trailcam runs with --sampler preload pays only "
		 "nanoseconds",
		 names, cost.stepped_ns / 1e3, cost.emulated_ns / 1e3);
}

static int attach_by(struct alloc_recorder *recorder, const struct alloc_recorder_config *config,
		     enum alloc_link link, const char **ret_obstacle)
{
	int err = load(recorder, config, link);

	if (err)
		return err;
	*ret_obstacle = obstacle_of(recorder);
	if (*ret_obstacle)
		return fail(-ENOTSUP, "%s", *ret_obstacle);
	err = plan_functions(recorder);
	if (err)
		return err;
	warn_of_stepped(recorder, config->exe);
	return link == ALLOC_LINK_PERF ? links_attach_perf(&recorder->links, config->pid)
				       : links_attach_multi(&recorder->links, config->pid);
}

static int attach(struct alloc_recorder *recorder, const struct alloc_recorder_config *config)
{
	enum alloc_link link = config->link == ALLOC_LINK_AUTO ? ALLOC_LINK_SESSION : config->link;

	for (;; link++) {
		const char *obstacle = NULL;
		int err = attach_by(recorder, config, link, &obstacle);

		if (!obstacle || config->link != ALLOC_LINK_AUTO)
			return err;
		log_debug("%s", obstacle);
		unload(recorder);
	}
}

/* An allocator in the program itself cannot be told from its callers. */
static void find_teller(struct alloc_recorder *recorder, const char *exe)
{
	CLEANUP(freep) char *program = realpath(exe, NULL);
	const char *path = alloc_recorder_allocator(recorder);

	if (alloc_functions_tell(&recorder->functions) && program && strcmp(path, program))
		recorder->teller = path;
}

int alloc_recorder_new(struct alloc_recorder **ret_recorder, const struct alloc_recorder_config *config)
{
	CLEANUP(alloc_recorder_freep) struct alloc_recorder *recorder = calloc(1, sizeof(*recorder));
	int err;

	if (!recorder)
		return -ENOMEM;
	programs_quiet_libbpf();
	err = alloc_functions_find(&recorder->functions, config->exe, config->is_running ? config->pid : 0,
				   config->allocator, config->sampler);
	if (!err && config->mappings && alloc_functions_tell(&recorder->functions))
		err = fail(-EINVAL, "--mmap needs --sampler uprobes: an allocator's USDT probes do not "
				    "report mmap()");
	if (!err && config->mappings)
		err = alloc_functions_find_mappings(&recorder->functions, config->exe,
						    config->is_running ? config->pid : 0);
	if (!err)
		err = attach(recorder, config);
	if (err)
		return err;
	for (size_t i = 0; i < recorder->functions.cnt; i++)
		log_debug("probing %s at %s+0x%llx", recorder->functions.items[i].name,
			  recorder->functions.items[i].probe.path,
			  (unsigned long long)recorder->functions.items[i].probe.file_offset);
	find_teller(recorder, config->exe);
	*ret_recorder = TAKE_PTR(recorder);
	return 0;
}

void alloc_recorder_detach(struct alloc_recorder *recorder)
{
	links_detach(&recorder->links);
}

void alloc_recorder_free(struct alloc_recorder *recorder)
{
	if (!recorder)
		return;
	unload(recorder);
	alloc_functions_release(&recorder->functions);
	free(recorder);
}

/* ---- what is known of it ---- */

struct alloc_recorder_counts alloc_recorder_counts(const struct alloc_recorder *recorder)
{
	const struct alloc_bpf__bss *bss = recorder->bpf->bss;
	struct alloc_recorder_counts counts = {
		.lost = __atomic_load_n(&bss->lost, __ATOMIC_RELAXED),
		.lost_samples = __atomic_load_n(&bss->lost_samples, __ATOMIC_RELAXED),
		.forgotten = __atomic_load_n(&bss->forgotten, __ATOMIC_RELAXED),
		.is_estimated = alloc_functions_tell(&recorder->functions),
	};

	for (size_t i = 0; i < ARRAY_SIZE(bss->totals); i++) {
		counts.calls += __atomic_load_n(&bss->totals[i].calls, __ATOMIC_RELAXED);
		counts.bytes += __atomic_load_n(&bss->totals[i].bytes, __ATOMIC_RELAXED);
	}
	return counts;
}

bool alloc_recorder_is_alive(const struct alloc_recorder *recorder, uint64_t address, uint64_t began_ns)
{
	struct live live;

	return !bpf_map_lookup_elem(bpf_map__fd(recorder->bpf->maps.live), &address, &live) &&
	       live.began_ns == began_ns;
}

const char *alloc_recorder_link_name(const struct alloc_recorder *recorder)
{
	static const char *const names[] = {
		[ALLOC_LINK_SESSION] = "uprobe_session",
		[ALLOC_LINK_MULTI] = "uprobe_multi",
		[ALLOC_LINK_PERF] = "perf_uprobe",
	};

	return names[recorder->link];
}

const char *alloc_recorder_allocator(const struct alloc_recorder *recorder)
{
	return recorder->functions.items[0].probe.path;
}

const char *alloc_recorder_teller(const struct alloc_recorder *recorder)
{
	return recorder->teller;
}

const char *alloc_recorder_function(const struct alloc_recorder *recorder, uint32_t function)
{
	return function < recorder->functions.cnt ? recorder->functions.items[function].name : NULL;
}

bool alloc_recorder_maps(const struct alloc_recorder *recorder, uint32_t function)
{
	uint8_t call = function < recorder->functions.cnt ? recorder->functions.items[function].role.call
							  : (uint8_t)ALLOC_CALL_FREE;

	return call == ALLOC_CALL_MAP || call == ALLOC_CALL_REMAP;
}

const struct probe *alloc_recorder_probe(const struct alloc_recorder *recorder, uint32_t function)
{
	return function < recorder->functions.cnt ? &recorder->functions.items[function].probe : NULL;
}
