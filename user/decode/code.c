/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A libipt image reorders its sections on every look-up, so two decoders must not share one; building one
 * costs the square of its sections. So each has a pool: a decoder takes an image and gives it back, and there
 * are at most as many images as running decoders. The images share their sections (decode/cache.c).
 */
#include "decode/code.h"

#include <intel-pt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sort.h"
#include "decode/libipt/status.h"

enum { KEPT = 16 }; /* sets that nobody has */

static int code_add_section(struct code *code, struct code_image_set *set, const struct code_section *wanted)
{
	struct cached_section *section;
	int err = decoder_cache_add(code->config->cache, wanted, &section);

	if (err == -ENOMEM)
		return err;
	if (err) {
		log_debug("code left out: %s", fail_message(err));
		return 0;
	}
	err = ARRAY_PUSH(set->sections, set->section_cnt, set->section_cap, section);
	return err ? fail(err, "no memory for the code sections") : 0;
}

static int compare_addr(const void *a, const void *b)
{
	const struct cached_section *const *x = a, *const *y = b;

	return ORDER_UP((*x)->addr, (*y)->addr);
}

static bool is_sorted(const struct code_image_set *set)
{
	for (size_t i = 1; i < set->section_cnt; i++)
		if (set->by_addr[i]->addr < set->by_addr[i - 1]->addr)
			return false;
	return true;
}

static int sort_sections(struct code_image_set *set)
{
	size_t bytes = set->section_cnt * sizeof(*set->by_addr);

	set->by_addr = malloc(bytes + 1);
	if (!set->by_addr)
		return fail(-ENOMEM, "no memory for the code sections");
	if (!bytes)
		return 0;
	memcpy(set->by_addr, set->sections, bytes);
	/* As they mostly are. */
	if (!is_sorted(set))
		sort_array(set->by_addr, set->section_cnt, sizeof(*set->by_addr), compare_addr);
	for (size_t i = 1; i < set->section_cnt; i++)
		if (set->by_addr[i]->addr - set->by_addr[i - 1]->addr < set->by_addr[i - 1]->size)
			set->overlap = true;
	return 0;
}

static int code_add_sections(struct code *code, struct code_image_set *set,
			     const struct code_section *sections, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		err = code_add_section(code, set, &sections[i]);
	return err ? err : sort_sections(set);
}

static void set_release(struct code_image_set *set)
{
	for (size_t i = 0; i < set->idle_cnt; i++)
		pt_image_free(set->idle[i]);
	free(set->idle);
	free(set->sections);
	free(set->by_addr);
	*set = (struct code_image_set){0};
}

int code_init(struct code *code, const struct decoder_config *config)
{
	*code = (struct code){.config = config};
	pthread_mutex_init(&code->lock, NULL);
	/* Without any code there is one image that is empty. */
	code->sets = calloc(config->image_cnt + 1, sizeof(*code->sets));
	return code->sets ? 0 : fail(-ENOMEM, "no memory for the code images");
}

void code_release(struct code *code)
{
	for (size_t i = 0; i < code->made_cnt; i++)
		set_release(&code->sets[code->made[i]]);
	free(code->made);
	free(code->sets);
	pthread_mutex_destroy(&code->lock);
}

size_t code_version_at(const struct code *code, uint64_t tsc)
{
	return BISECT_LAST(code->config->version_cnt, i, code->config->versions[i].start_tsc <= tsc);
}

size_t code_version_enabled_at(const struct code *code, uint64_t tsc)
{
	size_t version = code_version_at(code, tsc);

	while (version + 1 < code->config->version_cnt &&
	       code->config->versions[version + 1].enable_tsc <= tsc)
		version++;
	return version;
}

static size_t image_of(const struct code *code, size_t version)
{
	return version < code->config->version_cnt ? code->config->versions[version].image : 0;
}

/* The one that nobody has for the longest time goes, if there are many. */
static void make_room(struct code *code)
{
	size_t oldest = SIZE_MAX, idle = 0;

	for (size_t i = 0; i < code->made_cnt; i++) {
		const struct code_image_set *set = &code->sets[code->made[i]];

		if (set->users)
			continue;
		idle++;
		if (oldest == SIZE_MAX || set->used_at < code->sets[code->made[oldest]].used_at)
			oldest = i;
	}
	if (idle <= KEPT)
		return;
	set_release(&code->sets[code->made[oldest]]);
	code->made[oldest] = code->made[--code->made_cnt];
}

static int make_set(struct code *code, size_t index)
{
	static const struct code_image none;
	const struct decoder_config *config = code->config;
	const struct code_image *image = index < config->image_cnt ? &config->images[index] : &none;
	struct code_image_set set = {.image = image};
	CLEANUP(freep) struct code_section *listed = NULL;
	size_t cnt = image->section_cnt;
	int err = 0;

	if (config->list)
		err = config->list(config->list_ctx, index, &listed, &cnt);
	if (!err)
		err = ARRAY_PUSH(code->made, code->made_cnt, code->made_cap, index);
	if (err)
		return fail(err, "no memory for the code images");
	err = code_add_sections(code, &set, config->list ? listed : image->sections, cnt);
	if (err) {
		code->made_cnt--;
		set_release(&set);
		return err;
	}
	code->sets[index] = set;
	return 0;
}

/* The same, for whoever has the lock. NULL for NULL. */
static struct code_image_set *own_set(struct code *code, const struct code_image_set *set)
{
	return set ? &code->sets[code_image_nth(code, set)] : NULL;
}

static void give_locked(struct code *code, const struct code_image_set *set)
{
	struct code_image_set *given = own_set(code, set);

	if (!given)
		return;
	given->users--;
	given->used_at = ++code->uses;
}

int code_take(struct code *code, size_t version, const struct code_image_set **set)
{
	size_t index = image_of(code, version);
	struct code_image_set *fresh = &code->sets[index];
	int err = 0;

	if (*set == fresh)
		return 0;
	pthread_mutex_lock(&code->lock);
	if (!fresh->image) {
		make_room(code);
		err = make_set(code, index);
	}
	if (!err) {
		fresh->users++;
		give_locked(code, *set);
		*set = fresh;
	}
	pthread_mutex_unlock(&code->lock);
	return err;
}

void code_give(struct code *code, const struct code_image_set *set)
{
	pthread_mutex_lock(&code->lock);
	give_locked(code, set);
	pthread_mutex_unlock(&code->lock);
}

bool code_is_left_out(const struct code_image_set *set, uint64_t ip)
{
	bool has_traced = false, is_traced = false;

	for (size_t i = 0; i < set->image->range_cnt; i++) {
		const struct code_range *range = &set->image->ranges[i];
		bool is_here = ip >= range->begin && ip < range->end;

		if (range->stops && is_here)
			return true;
		has_traced |= !range->stops;
		is_traced |= !range->stops && is_here;
	}
	return has_traced && !is_traced;
}

struct cached_section *code_section_at(const struct code_image_set *set, uint64_t ip)
{
	size_t low = BISECT(set->section_cnt, i, set->by_addr[i]->addr <= ip);

	if (!low || ip - set->by_addr[low - 1]->addr >= set->by_addr[low - 1]->size)
		return NULL;
	return set->by_addr[low - 1];
}

static int image_build(struct code *code, const struct code_image_set *set, struct pt_image **ret_image)
{
	struct pt_image_section_cache *iscache = decoder_cache_iscache(code->config->cache);
	struct pt_image *image = pt_image_alloc(NULL);

	if (!image)
		return fail(-ENOMEM, "no memory for a code image");
	for (size_t i = 0; i < set->section_cnt; i++) {
		int status = pt_image_add_cached(image, iscache, set->sections[i]->isid, NULL);

		if (status < 0) {
			pt_image_free(image);
			return status_fail(status, "a code image");
		}
	}
	*ret_image = image;
	return 0;
}

static int take_image(struct code *code, const struct code_image_set *set, struct pt_image **ret_image)
{
	struct code_image_set *taken = own_set(code, set);
	struct pt_image *image = NULL;

	pthread_mutex_lock(&code->lock);
	if (taken->idle_cnt)
		image = taken->idle[--taken->idle_cnt];
	pthread_mutex_unlock(&code->lock);
	if (!image)
		return image_build(code, set, ret_image);
	*ret_image = image;
	return 0;
}

static void give_image(struct code *code, const struct code_image_set *set, struct pt_image *image)
{
	struct code_image_set *given = own_set(code, set);
	int err;

	pthread_mutex_lock(&code->lock);
	err = ARRAY_PUSH(given->idle, given->idle_cnt, given->idle_cap, image);
	pthread_mutex_unlock(&code->lock);
	if (err)
		pt_image_free(image);
}

int code_hold(struct code_hold *hold, size_t version)
{
	struct code_hold fresh = {.code = hold->code};
	int err;

	if (hold->set == &hold->code->sets[image_of(hold->code, version)])
		return 0;
	err = code_take(hold->code, version, &fresh.set);
	if (!err)
		err = take_image(hold->code, fresh.set, &fresh.image);
	if (err) {
		code_give(hold->code, fresh.set);
		return err;
	}
	code_let_go(hold);
	*hold = fresh;
	return 1;
}

void code_let_go(struct code_hold *hold)
{
	if (hold->image)
		give_image(hold->code, hold->set, hold->image);
	code_give(hold->code, hold->set);
	*hold = (struct code_hold){.code = hold->code};
}
