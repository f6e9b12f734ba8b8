/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of one domain are gathered in a packet, and the codes that they name for the first time in a list.
 * The packet is written when it is full, lasts too long, the list is long, ids run out, or another domain has
 * an event: first the locations of the codes, in packets of their own, then the events. So one buffer is
 * enough for all domains, and locations come before their codes.
 */
#include "ctf/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "ctf/writer_internal.h"

enum { PACKET_US_MAX = 30000000, PACKET_CODES_MAX = 128 };
enum { EVENT_HEAD_MAX = 100, EVENT_MAX = EVENT_HEAD_MAX + CTF_STACK_BYTES };

/* Room for an event, and its head. */
static int begin_event(struct memtrace_writer *writer, unsigned int code, int64_t time)
{
	struct writer_domain *domain = writer->domain;
	int err = 0;

	if (WRITER_PACKET_SIZE - writer->used < EVENT_MAX || writer->missed.cnt > PACKET_CODES_MAX ||
	    (uint64_t)time - (uint64_t)domain->time_begin > PACKET_US_MAX ||
	    domain->next_id == domain->ids_end)
		err = writer_flush_at(writer, time);
	if (err)
		return err;
	domain->time_end = time;
	writer_put_head(writer->packet + writer->used, code, time);
	writer->used += sizeof(uint32_t);
	return 0;
}

static size_t common_frames(const struct writer_domain *domain, const struct memtrace_event *event)
{
	size_t common = 0, max = event->frame_cnt < domain->frame_cnt ? event->frame_cnt : domain->frame_cnt;

	while (common < max && event->frames[common] == domain->frames[common])
		common++;
	return common;
}

/* The event's frames are the last ones now; so many of them were before. */
static int keep_frames(struct writer_domain *domain, const struct memtrace_event *event, size_t common)
{
	for (size_t i = common; i < event->frame_cnt; i++)
		if (!event->frames[i])
			return fail(-EINVAL, "code 0 in the call stack of an allocation: codes begin at 1");
	/* One more, so that there is an array for an empty stack. */
	if (array_reserve(&domain->frames, &domain->frame_cap, event->frame_cnt + 1, sizeof(*domain->frames)))
		return -ENOMEM;
	for (size_t i = common; i < event->frame_cnt; i++)
		domain->frames[i] = event->frames[i];
	domain->frame_cnt = event->frame_cnt;
	return 0;
}

static bool is_short(const struct memtrace_event *event, size_t new_cnt)
{
	return event->length >= 1 && event->length <= CTF_SHORT_MAX && event->source == MEMTRACE_MINOR &&
	       event->nsamples == 1 && new_cnt <= UINT8_MAX;
}

/* An allocation's numbers; how many words its stack takes is filled in at *ret_words. */
static uint8_t *put_numbers(uint8_t *at, const struct memtrace_event *event, bool short_one, size_t common,
			    uint8_t **ret_words)
{
	if (!short_one) {
		at = ctf_put_vint(at, (int64_t)event->length);
		at = ctf_put_vint(at, (int64_t)event->nsamples);
		at = ctf_put_u8(at, (uint8_t)event->source);
	}
	*ret_words = ctf_put_vint(at, (int64_t)common);
	return *ret_words + (short_one ? sizeof(uint8_t) : sizeof(uint16_t));
}

static int put_alloc(struct memtrace_writer *writer, const struct memtrace_event *event, int64_t time)
{
	struct writer_domain *domain = writer->domain;
	size_t common = common_frames(domain, event), cnt = event->frame_cnt - common;
	bool short_one = is_short(event, cnt);
	uint8_t *at, *words_at;
	unsigned int words;
	int err = keep_frames(domain, event, common);

	if (!err)
		err = begin_event(writer, short_one ? CTF_SHORT + (unsigned int)event->length : CTF_ALLOC,
				  time);
	if (!err)
		err = array_reserve(&writer->missed.codes, &writer->missed.cap, writer->missed.cnt + cnt,
				    sizeof(*writer->missed.codes));
	if (err)
		return err;
	at = put_numbers(writer->packet + writer->used, event, short_one, common, &words_at);
	at = ctf_cache_put(&domain->cache, at, domain->next_id, domain->frames + common, cnt, &writer->missed,
			   &words);
	if (short_one)
		ctf_put_u8(words_at, (uint8_t)words);
	else
		ctf_put_u16(words_at, (uint16_t)words);
	writer->used = (size_t)(at - writer->packet);
	domain->next_id++;
	return 0;
}

static int put_end(struct memtrace_writer *writer, const struct memtrace_event *event, int64_t time)
{
	int err = begin_event(writer, event->kind == MEMTRACE_PROMOTE ? CTF_PROMOTE : CTF_COLLECT, time);
	int64_t back = (int64_t)(writer->domain->next_id - 1 - event->id);

	if (err)
		return err;
	if (event->kind == MEMTRACE_PROMOTE && back < 0)
		return fail(-EINVAL, "allocation %" PRIu64 " is promoted, and domain %u is only at %" PRIu64,
			    event->id, event->domain, writer->domain->next_id);
	writer->used = (size_t)(ctf_put_vint(writer->packet + writer->used, back) - writer->packet);
	return 0;
}

static int put(struct memtrace_writer *writer, const struct memtrace_event *event)
{
	int64_t time = (int64_t)((uint64_t)writer->start_us + event->time_us);
	int err = writer_use_domain(writer, event->domain);

	if (err)
		return err;
	if (time < writer->domain->time_end)
		time = writer->domain->time_end;
	return event->kind == MEMTRACE_ALLOC ? put_alloc(writer, event, time) : put_end(writer, event, time);
}

int memtrace_writer_put(struct memtrace_writer *writer, const struct memtrace_event *event, uint64_t *ret_id)
{
	if (!writer->err)
		writer->err = put(writer, event);
	if (!writer->err && ret_id && event->kind == MEMTRACE_ALLOC)
		*ret_id = writer->domain->next_id - 1;
	return writer->err;
}

int memtrace_writer_flush(struct memtrace_writer *writer)
{
	if (!writer->err)
		writer->err = writer_flush_at(writer, writer->domain->time_end);
	return writer->err;
}

/* ---- life ---- */

static int check_info(const struct memtrace_info *info)
{
	if (!(info->sample_rate > 0 && info->sample_rate <= 1))
		return fail(-EINVAL, "a sample rate of %g: it must be above 0, and at most 1",
			    info->sample_rate);
	if (info->word_bits != 32 && info->word_bits != 64)
		return fail(-EINVAL, "words of %u bits: there are 32 and 64", info->word_bits);
	return 0;
}

int memtrace_writer_new(struct memtrace_writer **ret_writer, const struct memtrace_writer_config *config)
{
	CLEANUP(memtrace_writer_freep) struct memtrace_writer *writer = NULL;
	int err = check_info(config->info);

	if (err)
		return err;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return -ENOMEM;
	writer->config = *config;
	writer->config.info = NULL;
	writer->start_us = (int64_t)config->info->start_us;
	writer->pid = config->info->pid;
	err = writer_put_info(writer, config->info);
	writer->used = CTF_HEADER_SIZE;
	if (!err)
		err = writer_use_domain(writer, config->info->domain);
	if (!err)
		*ret_writer = TAKE_PTR(writer);
	return err;
}

static void free_domain(struct writer_domain *domain)
{
	ctf_files_free(&domain->files);
	free(domain->frames);
	free(domain);
}

void memtrace_writer_free(struct memtrace_writer *writer)
{
	for (size_t i = 0; i < writer->domain_cnt; i++)
		free_domain(writer->domains[i]);
	free(writer->domains);
	free(writer->missed.codes);
	free(writer);
}
