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

/* sections[isid] = section */
static int code_index(struct code *code, const struct cached_section *section)
{
	size_t cnt = (size_t)section->isid + 1;

	if (cnt > code->section_cnt) {
		int err = array_reserve(&code->sections, &code->section_cap, cnt, sizeof(*code->sections));

		if (err)
			return err;
		memset(code->sections + code->section_cnt, 0,
		       (cnt - code->section_cnt) * sizeof(*code->sections));
		code->section_cnt = cnt;
	}
	code->sections[section->isid] = section;
	return 0;
}

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
	err = code_index(code, section);
	if (!err)
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

static int code_add_image(struct code *code, struct code_image_set *set, const struct code_image *image)
{
	for (size_t i = 0; i < image->section_cnt; i++) {
		int err = code_add_section(code, set, &image->sections[i]);

		if (err)
			return err;
	}
	return sort_sections(set);
}

/* Only those that a version needs: a stream sees few of many processes. */
static int code_add_images(struct code *code)
{
	const struct decoder_config *config = code->config;
	CLEANUP(freep) bool *added = calloc(config->image_cnt + 1, sizeof(*added));
	int err = added ? 0 : fail(-ENOMEM, "no memory for the code images");

	for (size_t i = 0; i < config->version_cnt && !err; i++) {
		size_t image = config->versions[i].image;

		code->sets[image].image = &config->images[image];
		if (!added[image])
			err = code_add_image(code, &code->sets[image], &config->images[image]);
		added[image] = true;
	}
	return err;
}

int code_init(struct code *code, const struct decoder_config *config)
{
	int err;

	*code = (struct code){.config = config};
	pthread_mutex_init(&code->lock, NULL);
	/* Without any code there is one image that is empty. */
	code->sets = calloc(config->image_cnt + 1, sizeof(*code->sets));
	err = code->sets ? code_add_images(code) : fail(-ENOMEM, "no memory for the code images");
	if (err)
		code_release(code);
	return err;
}

static void code_image_set_release(struct code_image_set *set)
{
	for (size_t i = 0; i < set->idle_cnt; i++)
		pt_image_free(set->idle[i]);
	free(set->idle);
	free(set->sections);
	free(set->by_addr);
}

void code_release(struct code *code)
{
	for (size_t i = 0; code->sets && i <= code->config->image_cnt; i++)
		code_image_set_release(&code->sets[i]);
	free(code->sets);
	free(code->sections);
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

const struct code_image_set *code_images(const struct code *code, size_t version)
{
	return &code->sets[image_of(code, version)];
}

bool code_is_left_out(const struct code_image_set *set, uint64_t ip)
{
	bool has_traced = false, is_traced = false;

	for (size_t i = 0; set->image && i < set->image->range_cnt; i++) {
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

static int take_image(struct code *code, size_t index, struct pt_image **ret_image)
{
	struct code_image_set *set = &code->sets[index];
	struct pt_image *image = NULL;

	pthread_mutex_lock(&code->lock);
	if (set->idle_cnt)
		image = set->idle[--set->idle_cnt];
	pthread_mutex_unlock(&code->lock);
	if (!image)
		return image_build(code, set, ret_image);
	*ret_image = image;
	return 0;
}

static void give_image(struct code *code, size_t index, struct pt_image *image)
{
	struct code_image_set *set = &code->sets[index];
	int err;

	pthread_mutex_lock(&code->lock);
	err = ARRAY_PUSH(set->idle, set->idle_cnt, set->idle_cap, image);
	pthread_mutex_unlock(&code->lock);
	if (err)
		pt_image_free(image);
}

int code_hold(struct code_hold *hold, size_t version)
{
	size_t index = image_of(hold->code, version);
	struct pt_image *image = NULL;
	int err;

	if (hold->image && index == hold->index)
		return 0;
	err = take_image(hold->code, index, &image);
	if (err)
		return err;
	code_let_go(hold);
	hold->image = image;
	hold->index = index;
	return 1;
}

void code_let_go(struct code_hold *hold)
{
	if (hold->image)
		give_image(hold->code, hold->index, hold->image);
	hold->image = NULL;
}
