/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small program in machine code, its trace written by the step source's encoder, and the branches that must
 * come out.
 *
 *	1000	call 1010
 *	1005	jne 1000
 *	1007	syscall
 *	1009	jmp 1020
 *	1010	ret
 *	1020	jmp *%rax
 *	1030	nop ... 103c jne 1030
 */
#include "assertions.h"

#include <stdlib.h>
#include <unistd.h>

#include "decode/decoder.h"
#include "source/encoder.h"

enum { BASE = 0x1000, CODE_BYTES = 0x40, ROUNDS = 5 };

static char code_path[] = "/tmp/trailcam-decode-XXXXXX";

static int write_code(void **state)
{
	uint8_t code[CODE_BYTES];
	static const uint8_t start[] = {0xe8, 0x0b, 0, 0, 0, 0x75, 0xf9, 0x0f, 0x05, 0xeb, 0x15};
	int fd = mkstemp(code_path);

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code, start, sizeof(start));
	code[0x10] = 0xc3;
	code[0x20] = 0xff;
	code[0x21] = 0xe0;
	code[0x3c] = 0x75;
	code[0x3d] = 0xf2;
	return fd < 0 || write(fd, code, sizeof(code)) != sizeof(code) || close(fd);
}

static int remove_code(void **state)
{
	(void)state;
	return unlink(code_path);
}

struct trace {
	struct trace_params params;
	struct encoder encoder;
	uint64_t tsc;
	unsigned int boundary, psb_at; /* a PSB at that instruction boundary */
};

static void boundary(struct trace *trace, uint64_t ip)
{
	trace->tsc += 100;
	trace->encoder.psb_wanted = ++trace->boundary == trace->psb_at;
	encoder_boundary(&trace->encoder, trace->tsc, ip);
}

/*
 * ROUNDS times through the loop, the system call, then round and round through the indirect jump. Returns the
 * number of boundaries.
 */
static unsigned int run(struct trace *trace, unsigned int psb_at)
{
	*trace = (struct trace){.params = encoder_default_params(), .psb_at = psb_at, .tsc = 1000};
	assert_ok(encoder_init(&trace->encoder, &trace->params, 1 << 16));
	encoder_enable(&trace->encoder, trace->tsc, BASE);
	for (int i = 0; i < ROUNDS; i++) {
		encoder_push_return(&trace->encoder, BASE + 5);
		boundary(trace, BASE + 0x10);
		encoder_return(&trace->encoder, trace->tsc, BASE + 5);
		boundary(trace, BASE + 5);
		encoder_conditional(&trace->encoder, trace->tsc, i + 1 < ROUNDS);
		boundary(trace, i + 1 < ROUNDS ? BASE : BASE + 7);
	}
	encoder_disable(&trace->encoder, trace->tsc);
	encoder_enable(&trace->encoder, trace->tsc + 50, BASE + 9);
	boundary(trace, BASE + 0x20);
	encoder_indirect(&trace->encoder, trace->tsc, BASE + 9);
	boundary(trace, BASE + 9);
	boundary(trace, BASE + 0x20);
	encoder_disable_async(&trace->encoder, trace->tsc + 70, BASE + 0x20);
	return trace->boundary;
}

/* What the fast decoder declined, of the last stream. */
static struct decoder_tally tally;

/* Where the code is cut into two sections, as copies of pages are; 0: it is one. */
static uint64_t cut_at;

static void decode_with(enum decoder_kind kind, const struct trace *trace, size_t size, uint64_t code_size,
			unsigned int threads, const struct decoder_functions *functions,
			struct branch_list *branches)
{
	struct code_section sections[] = {
		{.path = code_path, .size = cut_at ? cut_at : code_size, .addr = BASE},
		{.path = code_path, .file_offset = cut_at, .size = code_size - cut_at, .addr = BASE + cut_at},
	};
	struct code_image image = {.sections = sections, .section_cnt = !code_size ? 0 : cut_at ? 2 : 1};
	struct code_version version = {0};
	struct decoder_cache *cache;
	struct decoder_config config = {
		.params = &trace->params,
		.images = &image,
		.image_cnt = 1,
		.versions = &version,
		.version_cnt = 1,
		.threads = threads,
		.kind = kind,
	};

	if (functions)
		config.functions = *functions;
	assert_ok(decoder_cache_new(&cache));
	config.cache = cache;
	assert_ok(decoder_run(&config, trace->encoder.ring.bytes, size, branches));
	decoder_cache_tally(cache, &tally);
	decoder_cache_free(cache);
}

/* With both decoders: times and all are the same. */
static void decode(const struct trace *trace, size_t size, uint64_t code_size, unsigned int threads,
		   struct branch_list *branches)
{
	struct branch_list reference = {0};

	decode_with(DECODER_REFERENCE, trace, size, code_size, threads, NULL, &reference);
	decode_with(DECODER_FAST, trace, size, code_size, threads, NULL, branches);
	assert_int_equal(branches->cnt, reference.cnt);
	if (branches->cnt)
		assert_memory_equal(branches->items, reference.items, branches->cnt * sizeof(struct branch));
	branch_list_release(&reference);
}

static const char *to_text(const struct branch_list *branches)
{
	static char text[8192];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < branches->cnt && len < sizeof(text) - 100; i++) {
		const struct branch *branch = &branches->items[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s%s %lx %lx\n",
					branch_kind_to_str(branch->kind),
					branch->kind == BRANCH_GAP ? ":" : "",
					branch->kind == BRANCH_GAP ? branch_gap_to_str(branch->gap) : "",
					branch->flags & BRANCH_TRACE_START ? "+start"
					: branch->flags & BRANCH_TRACE_END ? "+end"
									   : "",
					(unsigned long)branch->from, (unsigned long)branch->to);
	}
	return text;
}

#define LOOP "call 1000 1010\nreturn 1010 1005\nconditional jump 1005 1000\n"
static const char expected[] =
	"none+start 0 1000\n" LOOP LOOP LOOP LOOP "call 1000 1010\nreturn 1010 1005\nsyscall+end 1007 0\n"
	"none+start 0 1009\njump 1009 1020\njump 1020 1009\njump 1009 1020\ninterrupt+end 1020 0\n";

TEST(test_branches)
{
	struct branch_list branches = {0};
	struct trace trace;

	run(&trace, 0);
	decode(&trace, trace.encoder.ring.head, CODE_BYTES, 1, &branches);
	assert_string_equal(to_text(&branches), expected);
	assert_int_equal(tally.pieces, 1);
	assert_int_equal(tally.declined_pieces, 0);
	assert_int_equal(branches.items[1].from_len, 5);
	assert_int_equal(branches.items[0].tsc, 1000);
	for (size_t i = 1; i < branches.cnt; i++)
		assert_true(branches.items[i].tsc >= branches.items[i - 1].tsc);
	branch_list_release(&branches);
	encoder_release(&trace.encoder);
}

/* An instruction may begin in one section and end in the next. */
TEST(test_two_sections)
{
	for (cut_at = 1; cut_at < CODE_BYTES; cut_at++) {
		struct branch_list branches = {0};
		struct trace trace;

		run(&trace, 0);
		decode(&trace, trace.encoder.ring.head, CODE_BYTES, 1, &branches);
		assert_string_equal(to_text(&branches), expected);
		assert_int_equal(tally.declined_pieces, 0);
		branch_list_release(&branches);
		encoder_release(&trace.encoder);
	}
	cut_at = 0;
}

/* f: 1000 to 1010, g: 1010 to 1020; 1020 is in neither. */
static struct decoder_function function_at(void *ctx, size_t image, uint64_t ip)
{
	assert_null(ctx);
	assert_int_equal(image, 0);
	if (ip >= BASE && ip < BASE + 0x20)
		return (struct decoder_function){ip & ~0xfull, (ip & ~0xfull) + 0x10};
	return (struct decoder_function){0};
}

/*
 * Jumps inside f are left out: the loop's. Those from and to a place that is in no function are not, nor are
 * the last ones.
 */
TEST(test_functions)
{
	const struct decoder_functions functions = {.at = function_at};
	struct branch_list branches = {0};
	struct trace trace = {.params = encoder_default_params(), .tsc = 1000};
	size_t loops = 0, calls = 0;

	assert_ok(encoder_init(&trace.encoder, &trace.params, 1 << 16));
	encoder_enable(&trace.encoder, trace.tsc, BASE);
	for (int i = 0; i < 1000; i++) {
		encoder_push_return(&trace.encoder, BASE + 5);
		encoder_return(&trace.encoder, trace.tsc += 100, BASE + 5);
		encoder_conditional(&trace.encoder, trace.tsc += 100, true);
	}
	encoder_disable_async(&trace.encoder, trace.tsc + 70, BASE);
	decode_with(DECODER_FAST, &trace, trace.encoder.ring.head, CODE_BYTES, 1, &functions, &branches);
	assert_int_equal(tally.declined_pieces, 0);
	for (size_t i = 0; i < branches.cnt; i++) {
		loops += branches.items[i].kind == BRANCH_COND;
		calls += branches.items[i].kind == BRANCH_CALL;
	}
	assert_int_equal(calls, 1000);
	assert_true(loops > 0 && loops < 100);
	assert_int_equal(branches.items[branches.cnt - 2].kind, BRANCH_COND);
	branch_list_release(&branches);
	encoder_release(&trace.encoder);
	run(&trace, 0);
	decode_with(DECODER_FAST, &trace, trace.encoder.ring.head, CODE_BYTES, 1, &functions, &branches);
	assert_string_equal(strstr(to_text(&branches), "none+start 0 1009"),
			    strstr(expected, "none+start 0 1009"));
	branch_list_release(&branches);
	encoder_release(&trace.encoder);
}

/* ---- pieces ---- */

struct taken {
	size_t cnt, next;
	bool in_order;
};

static int begin_pieces(void *ctx, size_t cnt)
{
	((struct taken *)ctx)->cnt = cnt;
	return 0;
}

static int ignore_piece(void *ctx, size_t index, size_t version, struct branch_list *branches)
{
	(void)ctx;
	(void)index;
	(void)version;
	(void)branches;
	return 0;
}

static int take_piece(void *ctx, size_t index)
{
	struct taken *taken = ctx;

	if (index != taken->next)
		taken->in_order = false;
	return taken->next++ == 40 ? -EIO : 0;
}

static size_t looks;

static bool after_ten(void)
{
	return ++looks > 10;
}

/* In their order, from several threads; an error of one ends it; cancelled, the first ones are there. */
TEST(test_in_order)
{
	struct taken taken = {.in_order = true};
	const struct decoder_pieces pieces = {
		.begin = begin_pieces, .piece = ignore_piece, .in_turn = take_piece, .ctx = &taken};
	struct trace_params params = encoder_default_params();
	struct decoder_config config = {.params = &params, .threads = 4};
	struct encoder encoder;

	assert_ok(encoder_init(&encoder, &params, 1 << 16));
	for (uint64_t i = 0; i < 100; i++) {
		encoder.psb_wanted = true;
		encoder_enable(&encoder, 1000 + 100 * i, BASE);
		encoder_disable_async(&encoder, 1050 + 100 * i, BASE);
		encoder_boundary(&encoder, 1050 + 100 * i, BASE);
	}
	assert_ok(decoder_cache_new(&config.cache));
	assert_int_equal(decoder_run_pieces(&config, encoder.ring.bytes, encoder.ring.head, &pieces), -EIO);
	assert_true(taken.cnt > 41);
	assert_true(taken.in_order);
	assert_int_equal(taken.next, 41);
	config.is_cancelled = after_ten;
	taken = (struct taken){.in_order = true};
	assert_ok(decoder_run_pieces(&config, encoder.ring.bytes, encoder.ring.head, &pieces));
	assert_true(taken.in_order);
	assert_true(taken.next >= 10 && taken.next < 40);
	decoder_cache_free(config.cache);
	encoder_release(&encoder);
}

/* Wherever a PSB cuts the stream, and on however many threads: the same branches, each once. */
TEST(test_cut_anywhere)
{
	struct trace trace;
	unsigned int boundaries = run(&trace, 0);

	encoder_release(&trace.encoder);
	for (unsigned int at = 1; at <= boundaries; at++) {
		for (unsigned int threads = 1; threads <= 3; threads++) {
			struct branch_list branches = {0};

			run(&trace, at);
			decode(&trace, trace.encoder.ring.head, CODE_BYTES, threads, &branches);
			if (strcmp(to_text(&branches), expected))
				fail_msg("PSB at boundary %u, %u threads:\n%s", at, threads,
					 to_text(&branches));
			branch_list_release(&branches);
			encoder_release(&trace.encoder);
		}
	}
}

/*
 * A CYC that ends in 02 before a TNT 82 looks like the beginning of a PSB: the PSB is two bytes further on.
 */
TEST(test_psb_alignment)
{
	uint8_t bytes[2 + 16 + 3] = {0};
	size_t *offsets, cnt;

	for (size_t i = 0; i < 18; i += 2) {
		bytes[i] = 0x02;
		bytes[i + 1] = 0x82;
	}
	bytes[18] = 0x19;
	assert_ok(decoder_find_psbs(NULL, bytes, sizeof(bytes), &offsets, &cnt));
	assert_int_equal(cnt, 1);
	assert_int_equal(offsets[0], 2);
	free(offsets);
	assert_ok(decoder_find_psbs(NULL, bytes, 10, &offsets, &cnt));
	assert_int_equal(cnt, 0);
	free(offsets);
	assert_ok(decoder_find_psbs(NULL, NULL, 0, &offsets, &cnt));
	assert_int_equal(cnt, 0);
	free(offsets);
}

TEST(test_no_psb)
{
	struct branch_list branches = {0};
	struct trace trace;

	run(&trace, 0);
	trace.encoder.ring.bytes[0] = 0x99;
	decode(&trace, trace.encoder.ring.head, CODE_BYTES, 1, &branches);
	assert_string_equal(to_text(&branches), "gap:bad trace 0 0\n");
	branch_list_release(&branches);
	encoder_release(&trace.encoder);
}

/* Code that is not known is a gap; after the next PSB decoding goes on. */
TEST(test_missing_code)
{
	struct branch_list branches = {0};
	struct trace trace;
	const char *text;

	run(&trace, 3); /* before the second round */
	/* 1010 is not there: libipt gives up at each PSB's first call, ... */
	decode_with(DECODER_REFERENCE, &trace, trace.encoder.ring.head, 0x10, 1, NULL, &branches);
	text = to_text(&branches);
	assert_string_equal(text, "none+start 0 1000\ncall 1000 1010\ngap:no code 1010 0\n"
				  "call 1000 1010\ngap:no code 1010 0\n");
	branch_list_release(&branches);
	/* ... the fast one goes on where tracing begins again; the jump from there leads out of it, too. */
	decode_with(DECODER_FAST, &trace, trace.encoder.ring.head, 0x10, 1, NULL, &branches);
	text = to_text(&branches);
	assert_string_equal(text, "none+start 0 1000\ncall 1000 1010\ngap:no code 1010 0\n"
				  "call 1000 1010\ngap:no code 1010 0\n"
				  "none+start 0 1009\njump 1009 1020\ngap:no code 1020 0\n"
				  "none+start 0 1009\njump 1009 1020\ninterrupt+end 1020 0\n");
	branch_list_release(&branches);
	/* nothing is there */
	decode_with(DECODER_FAST, &trace, trace.encoder.ring.head, 0, 1, NULL, &branches);
	assert_non_null(strstr(to_text(&branches), "none+start 0 1000\ngap:no code 1000 0\n"));
	branch_list_release(&branches);
	encoder_release(&trace.encoder);
}

/* The code ends within the jump, with known instructions before it: libipt cannot decode it. */
TEST(test_cut_code)
{
	const struct decoder_functions functions = {.at = function_at};
	struct branch_list branches = {0};
	struct trace trace = {.params = encoder_default_params(), .tsc = 1000};

	assert_ok(encoder_init(&trace.encoder, &trace.params, 1 << 16));
	encoder_enable(&trace.encoder, trace.tsc, BASE + 9);
	boundary(&trace, BASE + 0x20);
	encoder_indirect(&trace.encoder, trace.tsc, BASE + 0x30);
	boundary(&trace, BASE + 0x30);
	for (int i = 0; i < 3; i++) {
		encoder_conditional(&trace.encoder, trace.tsc, true);
		boundary(&trace, BASE + 0x30);
	}
	encoder_disable_async(&trace.encoder, trace.tsc + 70, BASE + 0x30);
	decode(&trace, trace.encoder.ring.head, CODE_BYTES, 1, &branches);
	assert_non_null(
		strstr(to_text(&branches), "conditional jump 103c 1030\nconditional jump 103c 1030\n"));
	branch_list_release(&branches);
	decode(&trace, trace.encoder.ring.head, 0x3d, 1, &branches);
	assert_non_null(strstr(to_text(&branches), "jump 1020 1030\ngap:bad trace 0 0\n"));
	branch_list_release(&branches);
	decode_with(DECODER_FAST, &trace, trace.encoder.ring.head, 0x3d, 1, &functions, &branches);
	assert_non_null(strstr(to_text(&branches), "jump 1020 1030\ngap:bad trace 0 0\n"));
	branch_list_release(&branches);
	encoder_release(&trace.encoder);
}

TEST(test_overflow)
{
	struct branch_list branches = {0};
	struct trace trace = {.params = encoder_default_params()};

	assert_ok(encoder_init(&trace.encoder, &trace.params, 1 << 16));
	encoder_enable(&trace.encoder, 1000, BASE);
	encoder_push_return(&trace.encoder, BASE + 5);
	encoder_return(&trace.encoder, 1100, BASE + 5);
	encoder_overflow(&trace.encoder, 2000, BASE + 7);
	encoder_disable(&trace.encoder, 2100);
	decode(&trace, trace.encoder.ring.head, CODE_BYTES, 1, &branches);
	assert_string_equal(to_text(&branches),
			    "none+start 0 1000\ncall 1000 1010\ngap:overflow 0 1007\nsyscall+end 1007 0\n");
	branch_list_release(&branches);
	encoder_release(&trace.encoder);
}

/* Random damage: an end, and no more branches than the trace can account for. */
TEST(test_damage)
{
	srandom(1);
	for (int round = 0; round < 2000; round++) {
		struct branch_list branches = {0};
		struct trace trace;

		run(&trace, (unsigned int)round % 20);
		for (int i = 0; i < 1 + round % 5; i++)
			trace.encoder.ring.bytes[(size_t)random() % trace.encoder.ring.head] ^=
				(uint8_t)(1 << random() % 8);
		decode_with(DECODER_FAST, &trace, trace.encoder.ring.head, CODE_BYTES, 1, NULL, &branches);
		assert_true(branches.cnt < 1000000);
		branch_list_release(&branches);
		encoder_release(&trace.encoder);
	}
}

static int collect(void *ctx, size_t version, uint64_t ip, enum branch_gap gap)
{
	char *text = ctx;

	assert_int_equal(version, 0);
	sprintf(text + strlen(text), "%lx%s ", (unsigned long)ip, gap ? "!" : "");
	return 0;
}

/* The addresses of all instructions. */
static void list(const struct trace *trace, char *text)
{
	struct code_section section = {.path = code_path, .size = CODE_BYTES, .addr = BASE};
	struct code_image image = {.sections = &section, .section_cnt = 1};
	struct code_version version = {0};
	struct decoder_config config = {
		.params = &trace->params,
		.images = &image,
		.image_cnt = 1,
		.versions = &version,
		.version_cnt = 1,
	};

	*text = 0;
	assert_ok(decoder_cache_new(&config.cache));
	assert_ok(decoder_instructions(&config, trace->encoder.ring.bytes, trace->encoder.ring.head, collect,
				       text));
	decoder_cache_free(config.cache);
}

TEST(test_instructions)
{
	for (unsigned int psb_at = 0; psb_at < 19; psb_at++) {
		struct trace trace;
		char text[2048];

		run(&trace, psb_at);
		list(&trace, text);
		assert_string_equal(text, "1000 1010 1005 1000 1010 1005 1000 1010 1005 1000 1010 1005 1000 "
					  "1010 1005 1007 1009 1020 "
					  "1009 ");
		encoder_release(&trace.encoder);
	}
}

/*
 * A jump to where no code is faults there. Nothing is missing, wherever a PSB or another stop comes between.
 */
TEST(test_jump_to_nowhere)
{
	static const char *const faults[] = {
		"none+start 0 1009\njump 1009 1020\njump 1020 20\ninterrupt+end 20 0\n"
		"none+start 0 1009\njump 1009 1020\ninterrupt+end 1020 0\n",
		"none+start 0 1009\njump 1009 1020\njump 1020 20\ninterrupt+end 20 0\n"
		"none+start 0 20\ninterrupt+end 20 0\n"
		"none+start 0 1009\njump 1009 1020\ninterrupt+end 1020 0\n",
	};
	enum { NOWHERE = 0x20 };

	for (unsigned int stops = 0; stops < 2; stops++) {
		for (unsigned int psb_at = 0; psb_at < 4; psb_at++) {
			struct trace trace = {
				.params = encoder_default_params(), .psb_at = psb_at, .tsc = 1000};
			struct branch_list branches = {0};
			char text[200] = "";

			assert_ok(encoder_init(&trace.encoder, &trace.params, 1 << 16));
			encoder_enable(&trace.encoder, trace.tsc, BASE + 9);
			boundary(&trace, BASE + 0x20);
			encoder_indirect(&trace.encoder, trace.tsc, NOWHERE);
			boundary(&trace, NOWHERE);
			if (stops) {
				encoder_disable_async(&trace.encoder, trace.tsc + 20, NOWHERE);
				encoder_enable(&trace.encoder, trace.tsc + 50, NOWHERE);
			}
			boundary(&trace, NOWHERE);
			encoder_disable_async(&trace.encoder, trace.tsc + 70, NOWHERE);
			encoder_enable(&trace.encoder, trace.tsc + 80, BASE + 9);
			boundary(&trace, BASE + 0x20);
			encoder_disable_async(&trace.encoder, trace.tsc + 90, BASE + 0x20);
			decode(&trace, trace.encoder.ring.head, CODE_BYTES, 1, &branches);
			assert_string_equal(to_text(&branches), faults[stops]);
			list(&trace, text);
			assert_string_equal(text, "1009 1020 1009 ");
			branch_list_release(&branches);
			encoder_release(&trace.encoder);
		}
	}
}

static int32_t version_of_second(const struct decoder_config *config, const struct trace *trace)
{
	struct branch_list branches = {0};
	int32_t version = -1;

	assert_ok(decoder_run(config, trace->encoder.ring.bytes, trace->encoder.ring.head, &branches));
	for (size_t i = 1; i < branches.cnt; i++)
		if (branches.items[i].flags & BRANCH_TRACE_START)
			version = branches.items[i].detail;
	branch_list_release(&branches);
	return version;
}

/* Tracing goes on before the switch to the next thread is recorded, but not before that from the last one. */
TEST(test_enabled_early)
{
	struct code_section section = {.path = code_path, .size = CODE_BYTES, .addr = BASE};
	struct code_image image = {.sections = &section, .section_cnt = 1};
	struct code_version versions[2] = {{0}, {.start_tsc = UINT64_MAX}};
	struct decoder_cache *cache;
	struct trace trace;

	run(&trace, 0);
	for (enum decoder_kind kind = DECODER_FAST; kind <= DECODER_REFERENCE; kind++) {
		struct decoder_config config = {.params = &trace.params,
						.images = &image,
						.image_cnt = 1,
						.versions = versions,
						.version_cnt = 2,
						.kind = kind};

		assert_ok(decoder_cache_new(&cache));
		config.cache = cache;
		versions[1].enable_tsc = 1000 + 3 * ROUNDS * 100;
		assert_int_equal(version_of_second(&config, &trace), 1);
		versions[1].enable_tsc = trace.tsc;
		assert_int_equal(version_of_second(&config, &trace), 0);
		decoder_cache_free(cache);
	}
	encoder_release(&trace.encoder);
}

TEST_MAIN(write_code, remove_code)
