/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings and threads are referred to by an index into tables of the reader's, which a string or thread
 * record fills. When a table is full the entry used longest ago is replaced: a reader resolves an index by
 * what it last read for it. (A clock hand stands in for exact ages: an entry used since the hand last passed
 * is spared once.) Entries that the record at hand refers to are never replaced, since its strings are all
 * defined before it is written.
 *
 * Most events are begins of calls of few functions, and differ in their time and address only: their words
 * are kept, and copied. Copies do not say which strings are in use, so there are none once strings are
 * replaced.
 */
#include "output/bytes/fxt_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/containers/hash_index.h"
#include "base/error.h"
#include "base/utf8.h"

enum { BUCKETS = 1 << 16, ADDRESSES = 1 << 14, KEPT_BITS = 12 };

enum record_type {
	RECORD_INIT = 1,
	RECORD_STRING = 2,
	RECORD_THREAD = 3,
	RECORD_EVENT = 4,
	RECORD_KERNEL_OBJECT = 7
};
enum arg_type { ARG_INT32 = 1, ARG_INT64 = 3, ARG_STRING = 6, ARG_POINTER = 7, ARG_KOID = 8 };

struct string_slot {
	char *text;
	uint32_t hash;
	uint16_t next;	    /* in its bucket; 0: last */
	const char *at;	    /* where it was last found; NULL: nowhere for good */
	bool used;	    /* since the hand passed */
	uint32_t pinned_by; /* number of the event that refers to it */
};

struct thread_slot {
	uint64_t pid, tid;
};

/* A line of the processor's cache. */
struct kept_event {
	const void *key;
	uint64_t words[FXT_KEPT_WORDS];
};

struct fxt {
	struct output *output;
	struct string_slot strings[FXT_STRINGS + 1];
	uint16_t by_address[ADDRESSES]; /* the string last found there */
	uint16_t buckets[BUCKETS];
	uint32_t string_cnt, hand;
	struct thread_slot threads[FXT_THREADS + 1];
	uint32_t thread_cnt, thread_hand, last_thread;
	uint32_t event; /* number of the event being built */
	struct kept_event kept[1 << KEPT_BITS];
	uint64_t words[FXT_RECORD_WORDS];
	size_t word_cnt;
	uint32_t arg_cnt;
	bool no_memory;
};

int fxt_new(struct fxt **ret_fxt, struct output *output)
{
	struct fxt *fxt = calloc(1, sizeof(*fxt));

	if (!fxt)
		return -ENOMEM;
	fxt->output = output;
	fxt->event = 1;
	*ret_fxt = fxt;
	return 0;
}

void fxt_free(struct fxt *fxt)
{
	for (size_t i = 1; i <= fxt->string_cnt; i++)
		free(fxt->strings[i].text);
	free(fxt);
}

int fxt_error(const struct fxt *fxt)
{
	return fxt->no_memory ? -ENOMEM : 0;
}

/* ---- strings ---- */

static uint16_t string_find(const struct fxt *fxt, const char *text, uint32_t hash)
{
	uint16_t index = fxt->buckets[hash % BUCKETS];

	while (index && (fxt->strings[index].hash != hash || strcmp(fxt->strings[index].text, text)))
		index = fxt->strings[index].next;
	return index;
}

static void string_forget(struct fxt *fxt, uint16_t index)
{
	uint16_t *link = &fxt->buckets[fxt->strings[index].hash % BUCKETS];

	while (*link != index)
		link = &fxt->strings[*link].next;
	*link = fxt->strings[index].next;
	free(fxt->strings[index].text);
}

/* A slot for a new string: a fresh one, or one that has not been used lately. */
static uint16_t string_slot(struct fxt *fxt)
{
	if (fxt->string_cnt < FXT_STRINGS)
		return (uint16_t)++fxt->string_cnt;
	for (;;) {
		struct string_slot *slot;

		fxt->hand = fxt->hand % FXT_STRINGS + 1;
		slot = &fxt->strings[fxt->hand];
		if (!slot->used && slot->pinned_by != fxt->event) {
			string_forget(fxt, (uint16_t)fxt->hand);
			return (uint16_t)fxt->hand;
		}
		slot->used = false;
	}
}

static void string_pin(const struct fxt *fxt, struct string_slot *string)
{
	string->used = true;
	string->pinned_by = fxt->event;
}

static void write_padded(struct fxt *fxt, const void *bytes, size_t size)
{
	static const uint8_t zeros[8];

	output_write(fxt->output, bytes, size);
	output_write(fxt->output, zeros, -size & 7);
}

/* The index of a string, defined to the reader if need be. 0: the empty string. */
static uint16_t string_index(struct fxt *fxt, const char *text)
{
	uint32_t hash = (uint32_t)hash_text(0, text);
	uint16_t index = *text ? string_find(fxt, text, hash) : 0;
	size_t len;
	uint64_t header;
	char *clean;

	if (!*text)
		return 0;
	if (index) {
		string_pin(fxt, &fxt->strings[index]);
		return index;
	}
	clean = utf8_clean(text, FXT_STRING_MAX);
	if (!clean) {
		fxt->no_memory = true;
		return 0;
	}
	if (strcmp(clean, text)) {
		index = string_index(fxt, clean);
		free(clean);
		return index;
	}
	index = string_slot(fxt);
	fxt->strings[index] =
		(struct string_slot){.text = clean, .hash = hash, .next = fxt->buckets[hash % BUCKETS]};
	string_pin(fxt, &fxt->strings[index]);
	fxt->buckets[hash % BUCKETS] = index;
	len = strlen(clean);
	header = RECORD_STRING | (1 + (len + 7) / 8) << 4 | (uint64_t)index << 16 | (uint64_t)len << 32;
	output_write(fxt->output, &header, sizeof(header));
	write_padded(fxt, clean, len);
	return index;
}

/* The same for one that stays where it is: looked up by that. */
static uint16_t lasting_string_index(struct fxt *fxt, const char *text)
{
	uint16_t *slot = &fxt->by_address[((uintptr_t)text ^ (uintptr_t)text >> 12) % ADDRESSES];
	struct string_slot *string = &fxt->strings[*slot];

	if (*slot && string->at == text) {
		string_pin(fxt, string);
		return *slot;
	}
	*slot = string_index(fxt, text);
	if (*slot)
		fxt->strings[*slot].at = text;
	return *slot;
}

/* ---- threads ---- */

static uint64_t other_thread_index(struct fxt *fxt, uint64_t pid, uint64_t tid)
{
	uint64_t record[3] = {0, pid, tid};

	for (uint32_t i = 1; i <= fxt->thread_cnt; i++)
		if (fxt->threads[i].pid == pid && fxt->threads[i].tid == tid)
			return fxt->last_thread = i;
	if (fxt->thread_cnt < FXT_THREADS)
		fxt->thread_hand = ++fxt->thread_cnt;
	else
		fxt->thread_hand = fxt->thread_hand % FXT_THREADS + 1;
	fxt->threads[fxt->thread_hand] = (struct thread_slot){pid, tid};
	record[0] = RECORD_THREAD | 3 << 4 | fxt->thread_hand << 16;
	output_write(fxt->output, record, sizeof(record));
	fxt->last_thread = fxt->thread_hand;
	return fxt->thread_hand;
}

static inline uint64_t thread_index(struct fxt *fxt, uint64_t pid, uint64_t tid)
{
	const struct thread_slot *last = &fxt->threads[fxt->last_thread];

	return fxt->last_thread && last->pid == pid && last->tid == tid ? fxt->last_thread
									: other_thread_index(fxt, pid, tid);
}

/* ---- records ---- */

void fxt_header(struct fxt *fxt)
{
	static const uint64_t words[] = {
		0x0016547846040010ull,		  /* magic: without it no reader knows the file */
		RECORD_INIT | 2 << 4, 1000000000, /* ticks per second: other rates are rounded by readers */
	};

	output_write(fxt->output, words, sizeof(words));
}

static void put(struct fxt *fxt, uint64_t word)
{
	fxt->words[fxt->word_cnt++] = word;
}

/* Sizes and argument counts are filled in at the end, where all kinds of record have them. */
static void record_end(struct fxt *fxt, unsigned int arg_shift)
{
	fxt->words[0] |= (uint64_t)fxt->word_cnt << 4 | (uint64_t)fxt->arg_cnt << arg_shift;
	output_write(fxt->output, fxt->words, fxt->word_cnt * sizeof(uint64_t));
	fxt->event++;
}

static void record_begin(struct fxt *fxt, uint64_t header)
{
	fxt->word_cnt = 0;
	fxt->arg_cnt = 0;
	put(fxt, header);
}

enum { OBJECT_PROCESS = 1, OBJECT_THREAD = 2 };

void fxt_name_process(struct fxt *fxt, uint64_t pid, const char *name)
{
	record_begin(fxt,
		     RECORD_KERNEL_OBJECT | OBJECT_PROCESS << 16 | (uint64_t)string_index(fxt, name) << 24);
	put(fxt, pid);
	record_end(fxt, 40);
}

static void arg(struct fxt *fxt, enum arg_type type, const char *name, uint64_t small, const uint64_t *value)
{
	if (fxt->arg_cnt == FXT_ARGS_MAX)
		return;
	put(fxt,
	    type | (value ? 2u : 1u) << 4 | (uint64_t)lasting_string_index(fxt, name) << 16 | small << 32);
	if (value)
		put(fxt, *value);
	fxt->arg_cnt++;
}

void fxt_name_thread(struct fxt *fxt, uint64_t pid, uint64_t tid, const char *name)
{
	record_begin(fxt,
		     RECORD_KERNEL_OBJECT | OBJECT_THREAD << 16 | (uint64_t)string_index(fxt, name) << 24);
	put(fxt, tid);
	arg(fxt, ARG_KOID, "process", 0, &pid);
	record_end(fxt, 40);
}

/* Of an event: where its size and thread stand in word 0, which words are its time and its first pointer. */
enum { WORDS_SHIFT = 4, TYPE_SHIFT = 16, THREAD_SHIFT = 24, WORD_TIME = 1, WORD_POINTER = 3 };

/* What an FXT_COMPLETE has in word 0 that is not in that of an FXT_BEGIN. */
enum { COMPLETE_MORE = (FXT_COMPLETE - FXT_BEGIN) << TYPE_SHIFT | 1 << WORDS_SHIFT, TYPE_BITS = 0xf };

static const uint64_t THREAD_BITS = (uint64_t)FXT_THREADS << THREAD_SHIFT;

void fxt_event_begin(struct fxt *fxt, enum fxt_event type, uint64_t pid, uint64_t tid, uint64_t time_ns,
		     const char *name)
{
	uint64_t thread = thread_index(fxt, pid, tid);
	uint64_t index = name ? lasting_string_index(fxt, name) : 0;

	record_begin(fxt, RECORD_EVENT | (uint64_t)type << TYPE_SHIFT | thread << THREAD_SHIFT | index << 48);
	put(fxt, time_ns);
}

static struct kept_event *kept_of(struct fxt *fxt, const void *key)
{
	return &fxt->kept[hash_place(key, KEPT_BITS)];
}

void fxt_event_keep(struct fxt *fxt, const void *key)
{
	struct kept_event *kept = kept_of(fxt, key);
	bool is_complete = (fxt->words[0] >> TYPE_SHIFT & TYPE_BITS) == FXT_COMPLETE;
	size_t cnt = fxt->word_cnt - is_complete;

	if (cnt > FXT_KEPT_WORDS || fxt->string_cnt == FXT_STRINGS || fxt->no_memory)
		return;
	kept->key = key;
	memcpy(kept->words, fxt->words, cnt * sizeof(uint64_t));
	if (is_complete)
		kept->words[0] -= COMPLETE_MORE;
}

/* Where the next record is written if there is room for the longest that is kept; else `words`. */
static inline uint64_t *record_room(const struct fxt *fxt, uint64_t *words)
{
	void *room = output_take(fxt->output, (FXT_KEPT_WORDS + 1) * sizeof(*words));

	return room ? room : words;
}

/* Of what record_room() returned. */
static inline void record_written(struct fxt *fxt, const uint64_t *record, const uint64_t *words, size_t cnt)
{
	if (record == words)
		output_write(fxt->output, words, cnt * sizeof(*words));
	else
		output_took(fxt->output, cnt * sizeof(*words));
	fxt->event++;
}

/* The end of one that is complete stands behind it. */
static inline bool repeat(struct fxt *fxt, const void *key, uint64_t pid, uint64_t tid, uint64_t time_ns,
			  uint64_t pointer, bool is_complete, uint64_t end_ns)
{
	const struct kept_event *kept = kept_of(fxt, key);
	uint64_t words[FXT_KEPT_WORDS + 1], *record;
	uint64_t thread;
	size_t cnt;

	if (kept->key != key || fxt->string_cnt == FXT_STRINGS)
		return false;
	thread = thread_index(fxt, pid, tid);
	record = record_room(fxt, words);
	cnt = kept->words[0] >> WORDS_SHIFT & FXT_RECORD_WORDS;
	memcpy(record, kept->words, sizeof(kept->words));
	record[0] = (kept->words[0] & ~THREAD_BITS) | thread << THREAD_SHIFT;
	record[WORD_TIME] = time_ns;
	record[WORD_POINTER] = pointer;
	if (is_complete) {
		record[0] += COMPLETE_MORE;
		record[cnt++] = end_ns;
	}
	record_written(fxt, record, words, cnt);
	return true;
}

bool fxt_event_repeat(struct fxt *fxt, const void *key, uint64_t pid, uint64_t tid, uint64_t time_ns,
		      uint64_t pointer)
{
	return repeat(fxt, key, pid, tid, time_ns, pointer, false, 0);
}

bool fxt_complete_repeat(struct fxt *fxt, const void *key, uint64_t pid, uint64_t tid, uint64_t time_ns,
			 uint64_t pointer, uint64_t end_ns)
{
	return repeat(fxt, key, pid, tid, time_ns, pointer, true, end_ns);
}

void fxt_slice_end(struct fxt *fxt, uint64_t pid, uint64_t tid, uint64_t time_ns)
{
	const uint64_t thread = thread_index(fxt, pid, tid);
	uint64_t words[FXT_KEPT_WORDS + 1], *record = record_room(fxt, words);

	record[0] =
		RECORD_EVENT | 2 << WORDS_SHIFT | (uint64_t)FXT_END << TYPE_SHIFT | thread << THREAD_SHIFT;
	record[WORD_TIME] = time_ns;
	record_written(fxt, record, words, 2);
}

void fxt_arg_pointer(struct fxt *fxt, const char *name, uint64_t value)
{
	arg(fxt, ARG_POINTER, name, 0, &value);
}

void fxt_arg_int(struct fxt *fxt, const char *name, int64_t value)
{
	uint64_t bits = (uint64_t)value;

	if (value == (int32_t)value)
		arg(fxt, ARG_INT32, name, (uint32_t)value, NULL);
	else
		arg(fxt, ARG_INT64, name, 0, &bits);
}

void fxt_arg_string(struct fxt *fxt, const char *name, const char *value)
{
	arg(fxt, ARG_STRING, name, string_index(fxt, value), NULL);
}

void fxt_arg_lasting(struct fxt *fxt, const char *name, const char *value)
{
	arg(fxt, ARG_STRING, name, lasting_string_index(fxt, value), NULL);
}

void fxt_event_end(struct fxt *fxt)
{
	record_end(fxt, 20);
}

void fxt_event_end_id(struct fxt *fxt, uint64_t id)
{
	put(fxt, id);
	record_end(fxt, 20);
}
