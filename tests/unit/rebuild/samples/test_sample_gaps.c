/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of two processors in, of which one lost some; what is missing of which thread out, as text. */
#include "rebuild/samples/sample_gaps.h"

#include "assertions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES_MAX = 16 };

struct story {
	struct stack_sample samples[SAMPLES_MAX];
	size_t cnt;
};

static struct stack_sample *add(struct story *story, uint64_t time, int32_t cpu, enum sample_kind kind,
				uint32_t switches)
{
	struct stack_sample *sample = &story->samples[story->cnt++];

	*sample = (struct stack_sample){
		.time_ns = time, .pid = 5, .tid = 6, .cpu = cpu, .kind = kind, .switches = switches};
	sample->state = kind == SAMPLE_SWITCH_OUT ? SAMPLE_INTERRUPTIBLE : 0;
	return sample;
}

static struct stack_sample *add_loss(struct story *story, uint64_t since, uint64_t time, int32_t cpu)
{
	struct stack_sample *loss = add(story, time, cpu, SAMPLE_LOST, 0);

	loss->pid = loss->tid = 0;
	loss->since_ns = since;
	loss->flags = SAMPLE_LOST_MOMENTS;
	return loss;
}

/* "SINCE-UNTIL " for each gap. */
static void assert_gaps(struct story *story, const char *expected)
{
	const struct snapshot snapshot = {.samples = story->samples, .sample_cnt = story->cnt};
	struct sample_gaps gaps = {0};
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_ok(sample_gaps_expect(&gaps, &snapshot));
	for (size_t i = 0; i < story->cnt; i++)
		assert_ok(sample_gaps_add(&gaps, &story->samples[i]));
	for (size_t i = 0; i < gaps.found_cnt; i++) {
		const struct stack_sample *gap = &gaps.found[i];

		assert_int_equal(gap->kind, SAMPLE_LOST);
		assert_int_equal(gap->pid, 5);
		assert_int_equal(gap->tid, 6);
		assert_int_equal(gap->flags, SAMPLE_LOST_MOMENTS);
		fprintf(file, "%" PRIu64 "-%" PRIu64 " ", gap->since_ns, gap->time_ns);
	}
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
	sample_gaps_release(&gaps);
}

TEST(test_a_move_that_was_not_seen)
{
	struct story story = {0};

	add(&story, 100, 0, SAMPLE_EVENT, 0);
	add_loss(&story, 0, 400, 1);
	add(&story, 500, 1, SAMPLE_SYSCALL_BEGIN, 0);
	add_loss(&story, 0, 600, 0);
	add(&story, 700, 1, SAMPLE_SYSCALL_END, 0);
	assert_gaps(&story, "100-499 ");
}

TEST(test_a_move_that_was_seen)
{
	struct story story = {0};

	add(&story, 100, 0, SAMPLE_EVENT, 0);
	add(&story, 200, 0, SAMPLE_SWITCH_OUT, 7);
	add_loss(&story, 0, 400, 1);
	add(&story, 450, 0, SAMPLE_WAKE_UP, 0);
	add(&story, 500, 1, SAMPLE_SWITCH_IN, 7);
	add(&story, 600, 1, SAMPLE_EVENT, 0);
	add(&story, 650, 1, SAMPLE_SWITCH_OUT, 8);
	add(&story, 700, -1, SAMPLE_SWITCH_OUT, 8)->flags = SAMPLE_IS_STILL;
	assert_gaps(&story, "");
}

TEST(test_a_move_without_a_loss)
{
	struct story story = {0};

	add(&story, 100, 0, SAMPLE_EVENT, 0);
	add_loss(&story, 0, 90, 1);
	add(&story, 500, 1, SAMPLE_EVENT, 0);
	add_loss(&story, 500, 600, 0)->flags = SAMPLE_LOST_TICKS;
	add_loss(&story, 510, 600, 0);
	assert_gaps(&story, "");
}

TEST(test_runs_elsewhere_within_a_wait)
{
	struct story story = {0};

	add(&story, 100, 0, SAMPLE_SWITCH_OUT, 7);
	add_loss(&story, 50, 400, 1);
	add(&story, 500, 0, SAMPLE_SWITCH_IN, 9);
	assert_gaps(&story, "100-400 ");
}

/* It may have been woken for the run that is missing: what ends the wait is not known. */
TEST(test_runs_elsewhere_before_a_wake_up)
{
	struct story story = {0};

	add(&story, 100, 0, SAMPLE_SWITCH_OUT, 7);
	add(&story, 300, 0, SAMPLE_WAKE_UP, 0);
	add_loss(&story, 50, 400, 1);
	add(&story, 490, 0, SAMPLE_WAKE_UP, 0);
	add(&story, 500, 0, SAMPLE_SWITCH_IN, 8);
	assert_gaps(&story, "100-299 ");
}

TEST(test_runs_elsewhere_after_a_wake_up)
{
	struct story story = {0};

	add(&story, 100, 0, SAMPLE_SWITCH_OUT, 7);
	add(&story, 200, 0, SAMPLE_WAKE_UP, 0);
	add_loss(&story, 250, 400, 1);
	add(&story, 500, 0, SAMPLE_SWITCH_IN, 8);
	assert_gaps(&story, "250-400 ");
}

TEST(test_it_waits_still_but_has_run)
{
	struct story story = {0};

	add(&story, 100, 0, SAMPLE_SWITCH_OUT, 7);
	add_loss(&story, 50, 400, 1);
	add(&story, 500, -1, SAMPLE_SWITCH_OUT, 8)->flags = SAMPLE_IS_STILL;
	assert_gaps(&story, "100-400 ");
}

/* It ran on the processor whose samples are missing, so that these are told to it as they are. */
TEST(test_a_loss_where_it_ran)
{
	struct story story = {0};

	add(&story, 100, 0, SAMPLE_EVENT, 0);
	add_loss(&story, 150, 400, 0);
	add(&story, 500, 1, SAMPLE_SWITCH_IN, 9);
	assert_gaps(&story, "");
}

TEST(test_switches_are_not_counted)
{
	struct story story = {0};

	add(&story, 100, 0, SAMPLE_SWITCH_OUT, 0);
	add_loss(&story, 50, 400, 1);
	add(&story, 500, 0, SAMPLE_SWITCH_IN, 9);
	assert_gaps(&story, "");
}

/* Since when a thread that is seen for the first time cannot have done anything unseen. */
TEST(test_the_end_of_losses)
{
	struct story story = {0};
	const struct snapshot snapshot = {.samples = story.samples, .sample_cnt = 2};
	struct sample_gaps gaps = {0};

	add_loss(&story, 0, 400, 1);
	add_loss(&story, 600, 700, 0);
	assert_ok(sample_gaps_expect(&gaps, &snapshot));
	assert_int_equal(sample_gaps_end(&gaps, 100, 300), 300);
	assert_int_equal(sample_gaps_end(&gaps, 100, 500), 400);
	assert_int_equal(sample_gaps_end(&gaps, 500, 550), 500);
	assert_int_equal(sample_gaps_end(&gaps, 500, 900), 700);
	sample_gaps_release(&gaps);
}

TEST_MAIN(NULL, NULL)
