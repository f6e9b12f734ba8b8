/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaching goes down a ladder: a uprobe_multi link, or else perf uprobes. The kernel fixes the kind of
 * attachment when the program is loaded, so the second rung loads it again. The BPF objects are small and
 * live as long as the set; only the links decide whether there are breakpoints.
 */
#include <stdlib.h>

#include <bpf/libbpf.h>

#include "base/error.h"
#include "base/log.h"
#include "bpf/own_id.h"
#include "bpf/rule.h"
#include "bpf/trigger.skel.h"
#include "trigger/foreign_links.h"
#include "trigger/hit_record.h"
#include "trigger/hit_ring.h"
#include "trigger/links.h"
#include "trigger/programs.h"
#include "trigger/trigger.h"
#include "trigger/uprobe_multi.h"

struct trigger_set {
	struct programs programs;
	struct hit_ring ring;
	struct links links;
	enum trigger_link link; /* the rung in use: not AUTO */
	pid_t pid;
	const struct trigger *triggers;
	size_t trigger_cnt;
};

/* ---- loading ---- */

static int load(struct trigger_set *set, const struct trigger_config *config, enum trigger_link link)
{
	size_t size;
	int err = programs_load(&set->programs, config, link);

	if (err)
		return err;
	size = bpf_map__max_entries(set->programs.bpf->maps.hits);
	err = hit_ring_init(&set->ring, bpf_map__fd(set->programs.bpf->maps.hits), size);
	if (err)
		return fail_errno(err, "cannot map the BPF ring buffer of %zu KiB", size / 1024);
	set->link = link;
	return links_plan(&set->links, &set->programs, config);
}

static void unload(struct trigger_set *set)
{
	links_release(&set->links);
	hit_ring_release(&set->ring);
	programs_release(&set->programs);
}

/* ---- attaching ---- */

static int attach_multi(struct trigger_set *set, const struct trigger_config *config,
			const char **ret_obstacle)
{
	int err = load(set, config, TRIGGER_LINK_UPROBE_MULTI);

	if (err)
		return err;
	*ret_obstacle = uprobe_multi_obstacle(bpf_program__fd(set->programs.bpf->progs.trigger_hit));
	if (*ret_obstacle)
		return fail(-ENOTSUP, "%s", *ret_obstacle);
	return links_attach_multi(&set->links, config->pid);
}

static int attach_perf(struct trigger_set *set, const struct trigger_config *config)
{
	int err = load(set, config, TRIGGER_LINK_PERF_UPROBE);

	return err ? err : links_attach_perf(&set->links, config->pid);
}

static int attach(struct trigger_set *set, const struct trigger_config *config)
{
	const char *obstacle = NULL;
	int err;

	if (config->link == TRIGGER_LINK_PERF_UPROBE)
		return attach_perf(set, config);
	err = attach_multi(set, config, &obstacle);
	if (!obstacle || config->link != TRIGGER_LINK_AUTO)
		return err;
	log_warn("%s: using perf uprobes instead", obstacle);
	unload(set);
	return attach_perf(set, config);
}

int trigger_set_attach(struct trigger_set **ret_set, const struct trigger_config *config)
{
	CLEANUP(trigger_set_freep) struct trigger_set *set = calloc(1, sizeof(*set));
	int err;

	if (!set)
		return -ENOMEM;
	programs_quiet_libbpf();
	err = foreign_links_check(config);
	if (err)
		return err;
	set->pid = config->pid;
	set->triggers = config->triggers;
	set->trigger_cnt = config->trigger_cnt;
	err = attach(set, config);
	if (err)
		return err;
	*ret_set = TAKE_PTR(set);
	return 0;
}

int trigger_set_follow(struct trigger_set *set)
{
	if (!set->pid)
		return 0;
	links_detach(&set->links);
	return set->link == TRIGGER_LINK_PERF_UPROBE ? links_attach_perf(&set->links, set->pid)
						     : links_attach_multi(&set->links, set->pid);
}

void trigger_set_hold(struct trigger_set *set, bool hold)
{
	for (size_t i = 0; i < set->trigger_cnt; i++)
		if (set->triggers[i].action & HIT_STOP)
			__atomic_store_n(&set->programs.bpf->bss->rules[i].held, hold, __ATOMIC_RELEASE);
}

void trigger_set_silence(struct trigger_set *set)
{
	for (size_t i = 0; i < set->trigger_cnt; i++)
		__atomic_store_n(&set->programs.bpf->bss->rules[i].held, 1, __ATOMIC_RELEASE);
	links_begin_end(&set->links);
}

void trigger_set_detach(struct trigger_set *set)
{
	links_let_go(&set->links);
}

void trigger_set_free(struct trigger_set *set)
{
	if (!set)
		return;
	unload(set);
	free(set);
}

/* ---- watched processes ---- */

int trigger_set_watch(struct trigger_set *set, pid_t pid)
{
	uint32_t key = (uint32_t)pid;
	uint8_t value = 1;
	int err = bpf_map__update_elem(set->programs.bpf->maps.targets, &key, sizeof(key), &value,
				       sizeof(value), BPF_ANY);

	return err ? fail_errno(err, "cannot watch process %d (at most %d at once)", pid, TARGETS_MAX) : 0;
}

int trigger_set_unwatch(struct trigger_set *set, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	return bpf_map__delete_elem(set->programs.bpf->maps.targets, &key, sizeof(key), 0);
}

/* ---- hits ---- */

/*
 * poll(2) on a ring buffer map is woken by HIT_STOP alone, but one that starts with other hits waiting
 * returns at once.
 */
int trigger_set_fd(const struct trigger_set *set)
{
	return bpf_map__fd(set->programs.bpf->maps.hits);
}

bool trigger_set_pending(const struct trigger_set *set)
{
	return hit_ring_pending(&set->ring);
}

struct hit_reader {
	const struct trigger_set *set;
	int (*fn)(void *ctx, struct trigger_hit *hit);
	void *ctx;
};

static int read_record(void *ctx, const void *bytes)
{
	const struct hit_reader *reader = ctx;
	const struct hit_record *record = bytes;
	struct trigger_hit hit;

	hit_record_read(record, &hit);
	hit.is_entry = !(record->action & HIT_RETURN) &&
		       programs_is_entry(&reader->set->programs, record->trigger, record->layout);
	return reader->fn(reader->ctx, &hit);
}

int trigger_set_read(struct trigger_set *set, int (*fn)(void *ctx, struct trigger_hit *hit), void *ctx)
{
	struct hit_reader reader = {.set = set, .fn = fn, .ctx = ctx};

	return hit_ring_read(&set->ring, read_record, &reader);
}

uint64_t trigger_set_lost(const struct trigger_set *set)
{
	return __atomic_load_n(&set->programs.bpf->bss->lost, __ATOMIC_RELAXED);
}

struct trigger_counts trigger_set_counts(const struct trigger_set *set, size_t trigger)
{
	const volatile struct rule *rule = &set->programs.bpf->bss->rules[trigger];

	return (struct trigger_counts){rule->passed, rule->limited, rule->unreadable, rule->without_call,
				       rule->without_result};
}

const char *trigger_set_link_name(const struct trigger_set *set)
{
	static const char *const names[] = {
		[TRIGGER_LINK_UPROBE_MULTI] = "uprobe_multi",
		[TRIGGER_LINK_PERF_UPROBE] = "perf_uprobe",
	};

	return names[set->link];
}
