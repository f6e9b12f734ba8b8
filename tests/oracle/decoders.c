/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both decoders on the same recordings: the branches of every AUX trace with their times, and the timelines,
 * must be the same. With -d each trace is also damaged at random ROUNDS times, so that what is wrong is found
 * at the same places. Where the fast decoder went on behind code that is not known, there is more of it. -v
 * tells what the fast decoder declined.
 *
 *	decoders [-v] [-d ROUNDS] [-s SEED] RECORDING...
 *
 * Recordings that cannot be read are passed over.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "decode/blocks.h"
#include "decode/fast.h"
#include "history/history.h"
#include "rebuild/decode.h"
#include "rebuild/traces.h"
#include "recording/recording.h"
#include "tests/same_branches.h"

static uint64_t state = 88172645463325252ull;
static bool verbose, has_lost;
static struct decoder_tally total;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void die(const char *what, int err)
{
	fprintf(stderr, "decoders: %s: %s\n", what, fail_message(err));
	exit(1);
}

static void print(const char *who, const struct branch_list *list, size_t i)
{
	const struct branch *branch = &list->items[i];

	if (i >= list->cnt)
		printf("  %s: the end\n", who);
	else
		printf("  %s: %zu %" PRIu64 " %s %" PRIx64 " -> %" PRIx64
		       " flags %x gap %d len %d detail %d\n",
		       who, i, branch->tsc, branch_kind_to_str(branch->kind), branch->from, branch->to,
		       branch->flags, branch->gap, branch->from_len, branch->detail);
}

static bool same_branches(const struct branch_list *ours, const struct branch_list *theirs, const char *name)
{
	size_t i = first_difference(ours, theirs);

	if (i == SIZE_MAX)
		return true;
	printf("%s: branch %zu of %zu and %zu differs\n", name, i, ours->cnt, theirs->cnt);
	for (size_t j = i > 3 ? i - 3 : 0; j < i + 3; j++) {
		print("fast     ", ours, j);
		print("reference", theirs, j);
	}
	return false;
}

/* The branches of each piece. */
struct collected {
	struct branch_list *pieces;
	size_t cnt;
};

static int begin(void *ctx, size_t cnt)
{
	struct collected *collected = ctx;

	collected->pieces = calloc(cnt + 1, sizeof(*collected->pieces));
	collected->cnt = cnt;
	return collected->pieces ? 0 : -ENOMEM;
}

static int collect(void *ctx, size_t index, size_t version, struct branch_list *branches)
{
	struct collected *collected = ctx;

	(void)version;
	collected->pieces[index] = *branches;
	*branches = (struct branch_list){0};
	return 0;
}

static void collected_release(struct collected *collected)
{
	for (size_t i = 0; i < collected->cnt; i++)
		branch_list_release(&collected->pieces[i]);
	free(collected->pieces);
}

/* A cache each: where libipt sees an error depends on the blocks that it has seen before. */
static void run(const struct snapshot *snapshot, struct history *history, const struct aux_trace *aux,
		enum decoder_kind kind, struct collected *ret_collected, struct decoder_tally *ret_tally)
{
	const struct decoder_pieces out = {.begin = begin, .piece = collect, .ctx = ret_collected};
	CLEANUP(decoder_cache_freep) struct decoder_cache *cache = NULL;
	const struct decode_config config = {.threads = 1, .decoder = kind};
	struct decoder_config decoder;
	struct schedule schedule;
	int err = schedule_make(&schedule, history, aux);

	if (!err)
		err = decoder_cache_new(&cache);
	if (err)
		die("schedule", err);
	decoder = traces_decoder(snapshot, history, &schedule, &config, cache);
	err = decoder_run_pieces(&decoder, aux->bytes, aux->size, &out);
	if (err)
		die("decode", err);
	decoder_cache_tally(cache, ret_tally);
	schedule_release(&schedule);
}

static bool same_trace(const struct snapshot *snapshot, struct history *history, const struct aux_trace *aux,
		       const char *name)
{
	struct collected ours = {0}, theirs = {0};
	struct decoder_tally tally, none;
	bool same = true;

	run(snapshot, history, aux, DECODER_FAST, &ours, &tally);
	run(snapshot, history, aux, DECODER_REFERENCE, &theirs, &none);
	total.pieces += tally.pieces;
	total.bytes += tally.bytes;
	total.declined_pieces += tally.declined_pieces;
	total.declined_bytes += tally.declined_bytes;
	total.why = total.why ? total.why : tally.why;
	for (size_t i = 0; i < ours.cnt && same; i++) {
		same = same_branches(&ours.pieces[i], &theirs.pieces[i], name);
		has_lost |= where_lost(&ours.pieces[i]) > 0;
	}
	collected_release(&ours);
	collected_release(&theirs);
	return same;
}

enum { PLACES = 3 };

static size_t places[PLACES]; /* where damage was done last */

static int print_packet(void *ctx, uint64_t offset, const char *text)
{
	const size_t *place = ctx;

	if (offset + 48 > *place && offset < *place + 48)
		printf("    %06" PRIx64 " %s\n", offset, text);
	return 0;
}

static void print_damage(const struct snapshot *snapshot, const struct aux_trace *aux)
{
	for (size_t i = 0; i < PLACES; i++) {
		if (places[i] == SIZE_MAX)
			continue;
		printf("  damage at %zx:\n", places[i]);
		decoder_packets(&snapshot->params, aux->bytes, aux->size, print_packet, &places[i]);
	}
}

static void damage(struct aux_trace *aux)
{
	uint64_t cnt = 1 + next_random() % PLACES;

	memset(places, 0xff, sizeof(places));

	for (uint64_t i = 0; i < cnt && aux->size; i++) {
		size_t at = next_random() % aux->size;

		places[i] = at;
		if (next_random() % 2)
			aux->bytes[at] ^= (uint8_t)(1u << next_random() % 8);
		else
			aux->bytes[at] = (uint8_t)next_random();
	}
}

/* Whether damage was done to the piece, or to the one behind it, which says where it ends. */
static bool is_damaged(const struct pieces *pieces, size_t i)
{
	size_t begin = pieces->items[i].begin, end = pieces->items[i].end;

	if (i + 1 < pieces->cnt)
		end = pieces->items[i + 1].end;
	for (size_t j = 0; j < PLACES; j++)
		if (places[j] >= begin && places[j] < end)
			return true;
	return false;
}

/*
 * What the fast decoder vouches for. The reference has a cache of its own each time: what that holds makes a
 * difference to damaged traces.
 */
static bool same_piece(const struct decoder_config *config, const struct aux_trace *aux,
		       struct pieces *pieces, size_t i, struct fast_memory *memory, const char *name)
{
	struct decoder_config reference = *config;
	struct branch_list ours = {0}, theirs = {0};
	struct pieces fresh;
	const char *why;
	bool same = true;
	int err = fast_decode(pieces, i, memory, &ours, &why);

	total.pieces++;
	total.declined_pieces += err > 0;
	if (!err) {
		err = decoder_cache_new(&reference.cache);
		if (!err)
			err = pieces_init(&fresh, &reference, aux->bytes, aux->size);
		if (!err)
			err = blocks_decode(&fresh, i, &theirs);
		if (err)
			die("decode", err);
		same = same_branches(&ours, &theirs, name);
		pieces_release(&fresh);
		decoder_cache_free(reference.cache);
	}
	branch_list_release(&ours);
	branch_list_release(&theirs);
	return same;
}

static bool same_pieces(const struct snapshot *snapshot, struct history *history, const struct aux_trace *aux,
			const char *name)
{
	const struct decode_config config = {0};
	CLEANUP(decoder_cache_freep) struct decoder_cache *cache = NULL;
	struct fast_memory memory = {0};
	struct decoder_config decoder;
	struct schedule schedule;
	struct pieces pieces;
	bool same = true;
	int err = schedule_make(&schedule, history, aux);

	if (!err)
		err = decoder_cache_new(&cache);
	if (!err) {
		decoder = traces_decoder(snapshot, history, &schedule, &config, cache);
		err = pieces_init(&pieces, &decoder, aux->bytes, aux->size);
	}
	if (err)
		die("pieces", err);
	for (size_t i = 0; i < pieces.cnt && same; i++)
		if (is_damaged(&pieces, i))
			same = same_piece(&decoder, aux, &pieces, i, &memory, name);
	pieces_release(&pieces);
	schedule_release(&schedule);
	return same;
}

static bool same_damaged(const struct snapshot *snapshot, struct history *history,
			 const struct aux_trace *good, unsigned long rounds, const char *name)
{
	struct aux_trace bad = *good;
	bool same = true;

	bad.bytes = malloc(good->size + 1);
	for (unsigned long i = 0; i < rounds && same; i++) {
		char text[512];

		memcpy(bad.bytes, good->bytes, good->size);
		snprintf(text, sizeof(text), "%s damaged, -s %" PRIu64, name, state);
		damage(&bad);
		same = same_pieces(snapshot, history, &bad, text);
		if (!same && verbose)
			print_damage(snapshot, &bad);
	}
	free(bad.bytes);
	return same;
}

/* ---- timelines ---- */

static bool same_slice(const struct slice *a, const struct slice *b)
{
	return a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->depth == b->depth &&
	       a->kind == b->kind && a->flags == b->flags && (slice_detail(a) || a->ip == b->ip) &&
	       !strcmp(slice_name(a), slice_name(b)) && !strcmp(slice_title(a), slice_title(b));
}

static bool same_thread(const struct timeline_thread *a, const struct timeline_thread *b, const char *name)
{
	for (size_t i = 0; i < a->slice_cnt && i < b->slice_cnt; i++) {
		const struct slice *x = &a->slices[i], *y = &b->slices[i];

		if (same_slice(x, y))
			continue;
		printf("%s: thread %d: slice %zu differs:\n  fast      %s %" PRIu64 " %" PRIu64
		       " depth %u\n  reference %s %" PRIu64 " %" PRIu64 " depth %u\n",
		       name, a->tid, i, slice_name(x), x->start_ns, x->end_ns, x->depth, slice_name(y),
		       y->start_ns, y->end_ns, y->depth);
		return false;
	}
	if (a->slice_cnt != b->slice_cnt || a->instant_cnt != b->instant_cnt) {
		printf("%s: thread %d: %zu and %zu slices, %zu and %zu gaps\n", name, a->tid, a->slice_cnt,
		       b->slice_cnt, a->instant_cnt, b->instant_cnt);
		return false;
	}
	for (size_t i = 0; i < a->instant_cnt; i++) {
		if (a->instants[i].time_ns != b->instants[i].time_ns ||
		    strcmp(a->instants[i].text, b->instants[i].text)) {
			printf("%s: thread %d: gap %zu differs\n", name, a->tid, i);
			return false;
		}
	}
	return true;
}

static bool same_timeline(const struct snapshot *snapshot, const char *name)
{
	CLEANUP(decoded_freep) struct decoded *ours = NULL;
	CLEANUP(decoded_freep) struct decoded *theirs = NULL;
	const struct timeline *a, *b;
	int err = decode_snapshot(&ours, snapshot, &(struct decode_config){.decoder = DECODER_FAST});

	if (!err)
		err = decode_snapshot(&theirs, snapshot,
				      &(struct decode_config){.decoder = DECODER_REFERENCE});
	if (err)
		die(name, err);
	a = decoded_timeline(ours);
	b = decoded_timeline(theirs);
	if (a->thread_cnt != b->thread_cnt || a->base_ns != b->base_ns) {
		printf("%s: %zu and %zu threads\n", name, a->thread_cnt, b->thread_cnt);
		return false;
	}
	for (size_t i = 0; i < a->thread_cnt; i++)
		if (!same_thread(&a->threads[i], &b->threads[i], name))
			return false;
	return true;
}

static bool same_recording(const char *path, unsigned long rounds)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	CLEANUP(history_freep) struct history *history = NULL;
	bool same = true;
	int err = recording_load(&snapshot, path);

	if (!err)
		err = history_new(&history, snapshot, NULL);
	if (err) {
		printf("%s: passed over: %s\n", path, fail_message(err));
		return true;
	}
	total = (struct decoder_tally){0};
	has_lost = false;
	for (size_t i = 0; i < snapshot->aux_cnt && same; i++)
		same = same_trace(snapshot, history, &snapshot->aux[i], path);
	if (verbose)
		printf("%s: %zu pieces, %zu bytes; declined %zu, %zu bytes%s%s\n", path, total.pieces,
		       total.bytes, total.declined_pieces, total.declined_bytes,
		       total.why ? ", the first for " : "", total.why ? total.why : "");
	total = (struct decoder_tally){0};
	for (size_t i = 0; i < snapshot->aux_cnt && same; i++)
		same = same_damaged(snapshot, history, &snapshot->aux[i], rounds, path);
	if (verbose && rounds)
		printf("%s, damaged: %zu pieces; declined %zu\n", path, total.pieces, total.declined_pieces);
	return same && (has_lost || same_timeline(snapshot, path));
}

int main(int argc, char **argv)
{
	unsigned long rounds = 0;
	int opt, different = 0;

	while ((opt = getopt(argc, argv, "d:s:v")) != -1) {
		switch (opt) {
		case 'd':
			rounds = strtoul(optarg, NULL, 10);
			break;
		case 's':
			state = strtoull(optarg, NULL, 10);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			fputs("usage: decoders [-v] [-d ROUNDS] [-s SEED] RECORDING...\n", stderr);
			return 2;
		}
	}
	for (int i = optind; i < argc; i++)
		different += !same_recording(argv[i], rounds);
	return different > 0 || optind == argc;
}
