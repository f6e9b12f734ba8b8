/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source of its own, beside others, from the first call to the last; and what is refused because no source
 * has it.
 */
#include "assertions.h"

#include <string.h>

#include "base/array.h"
#include "capture/capture.h"
#include "capture/sources.h"

/* ---- a source in one place: it replays calls from a list, and notes what it is asked ---- */

static const struct {
	uint64_t ip;
	enum call_edge edge;
} replayed[] = {{0x401000, CALL_BEGIN}, {0x402000, CALL_BEGIN}, {0x402000, CALL_END}, {0x401000, CALL_END}};

struct toy {
	pid_t pid;
	size_t given;
};

static char notes[256]; /* one letter for each call, in their order */

static void note(const char *call)
{
	strncat(notes, call, sizeof(notes) - strlen(notes) - 1);
}

static int toy_open(void **ret_self, const struct source_config *config)
{
	note(config->options->ring_size == 8192 ? "open " : "? ");
	*ret_self = calloc(1, sizeof(struct toy));
	return *ret_self ? 0 : -ENOMEM;
}

static int toy_add(void *self, pid_t pid, bool at_exec)
{
	struct toy *toy = self;

	note(at_exec ? "add " : "? ");
	toy->pid = pid;
	return 0;
}

static int toy_start(void *self)
{
	(void)self;
	note("start ");
	return 0;
}

static int toy_stop(void *self, int cpu)
{
	(void)self;
	(void)cpu;
	note("stop ");
	return 0;
}

static int toy_take(void *self, struct snapshot *snapshot)
{
	struct toy *toy = self;

	note("take ");
	for (; toy->given < ARRAY_SIZE(replayed); toy->given++) {
		const struct call call = {.time_ns = toy->given + 1,
					  .ip = replayed[toy->given].ip,
					  .pid = toy->pid,
					  .tid = toy->pid,
					  .edge = replayed[toy->given].edge};

		if (ARRAY_PUSH(snapshot->calls, snapshot->call_cnt, snapshot->call_cap, call))
			return -ENOMEM;
	}
	return 0;
}

static int toy_describe(void *self, struct snapshot *snapshot)
{
	(void)self;
	(void)snapshot;
	note("describe ");
	return 0;
}

static void toy_drop(void *self, pid_t pid)
{
	const struct toy *toy = self;

	note(pid == toy->pid ? "drop " : "? ");
}

static void toy_close(void *self)
{
	note("close");
	free(self);
}

static const struct source source_toy = {
	.name = "toy",
	.can = SOURCE_IS_BESIDE,
	.open = toy_open,
	.add = toy_add,
	.drop = toy_drop,
	.start = toy_start,
	.stop = toy_stop,
	.take = toy_take,
	.describe = toy_describe,
	.close = toy_close,
};

/* ---- recordings ---- */

static void record(const char *source, struct snapshot **ret_snapshot)
{
	char *argv[] = {(char *)"true", NULL};
	const struct capture_config config = {
		.path = "/bin/true",
		.binary = "/bin/true",
		.argv = argv,
		.source = source,
		.own_source = &source_toy,
		.options = {.ring_size = 8192},
		.max_bytes = 1 << 30,
	};
	struct capture *capture;
	enum capture_end end;
	bool exec_failed;

	notes[0] = '\0';
	assert_ok(capture_new(&capture, &config));
	assert_ok(capture_run(capture, ret_snapshot, &end, &exec_failed));
	assert_int_equal(end, CAPTURE_EXITED);
	assert_int_equal(capture_wait(capture), 0);
	capture_free(capture);
	assert_string_equal(notes, "open add start drop stop take describe close");
}

static void assert_replayed(const struct snapshot *snapshot)
{
	assert_int_equal(snapshot->call_cnt, ARRAY_SIZE(replayed));
	for (size_t i = 0; i < ARRAY_SIZE(replayed); i++) {
		assert_int_equal(snapshot->calls[i].ip, replayed[i].ip);
		assert_int_equal(snapshot->calls[i].edge, replayed[i].edge);
	}
}

TEST(test_alone)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;

	record("none", &snapshot);
	assert_string_equal(snapshot->source, "none");
	assert_int_equal(snapshot->aux_cnt, 0);
	assert_replayed(snapshot);
}

TEST(test_beside_another)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;

	record("step", &snapshot);
	assert_string_equal(snapshot->source, "step");
	assert_int_equal(snapshot->aux_cnt, 1);
	assert_replayed(snapshot);
}

/* ---- options ---- */

static void assert_refused(const struct capture_config *given, int err, const char *text)
{
	char *argv[] = {(char *)"true", NULL};
	struct capture_config config = *given;
	struct capture *capture;

	config.path = config.binary = "/bin/true";
	config.argv = argv;
	assert_err(capture_new(&capture, &config), err, text);
}

TEST(test_refused)
{
	static const struct {
		struct capture_config config;
		const char *text;
	} refusals[] = {
		{{.source = "none", .options.full = true}, "--full-execution belongs to --source intel_pt"},
		{{.source = "step", .options.scope = PT_BOTH}, "--kernel belongs to --source intel_pt"},
		{{.source = "step", .options.filter_cnt = 1}, "--filter belongs to --source intel_pt"},
		{{.source = "step", .options.per_thread = true}, "--per-thread belongs to --source intel_pt"},
		{{.source = "none", .options.cpu_wide = true}, "--cpu-wide belongs to --source intel_pt"},
		{{.source = "none", .options.step_overflow = 9},
		 "belong to --source step; the source here is none"},
		{{.source = "none", .start.spec = "main"},
		 "--step-from belongs to --source translate or step; the source here is none"},
		{{.source = "samples", .options.timing.is_asked = true},
		 "--timer-resolution belongs to --source intel_pt or translate; the source here is samples"},
		{{.source = "samples", .asks_stall = true},
		 "--max-stall belongs to --source step; the source here is samples"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		assert_refused(&refusals[i].config, -EINVAL, refusals[i].text);
}

TEST(test_names)
{
	size_t cnt = 0;

	assert_string_equal(capture_source_name(cnt), "auto");
	while (capture_source_name(++cnt))
		assert_true(!strcmp(capture_source_name(cnt), "none") ||
			    source_find(capture_source_name(cnt)));
	assert_string_equal(capture_source_name(cnt - 1), "none");
	assert_null(source_find("alloc"));
}

TEST_MAIN(NULL, NULL)
