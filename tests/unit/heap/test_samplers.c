/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs whose allocators sample for themselves: by libtrailcam-alloc.so, and by probes of their own. What
 * is in their traces is what they did.
 */
#include <libgen.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assertions.h"
#include "base/cleanup.h"
#include "ctf/reader.h"
#include "heap/recording.h"
#include "process/launch.h"
#include "source/alloc/preload.h"
#include "temporary_dir.h"

static char library[4096];

/* What a trace has of one function, which must be the innermost one of its allocations. */
struct sum {
	const char *function;
	uint64_t allocs, bytes, sampled, with_main;
};

struct trace {
	struct sum small, large, kept;
	uint64_t other_bytes, ends;
};

static const char allocates[] =
	"#include <stdlib.h>\n"
	"void *volatile it;\n"
	"__attribute__((noinline)) void small(void) { free(it = malloc(100)); }\n"
	"__attribute__((noinline)) void large(void) { free(it = calloc(3, 10000)); }\n"
	"__attribute__((noinline)) void kept(void) { it = malloc(64); }\n"
	"#ifdef OWN\nvoid *mi_malloc(size_t size) { return it = malloc(size); }\n#endif\n"
	"int main(void)\n{\n"
	"\tfor (int i = 0; i < 20000; i++) {\n\t\tsmall();\n"
	"\t\tif (i % 10 == 0)\n\t\t\tlarge();\n\t\tif (i % 1000 == 0)\n\t\t\tkept();\n\t}\n"
	"\treturn 0;\n}\n";

enum { SMALL = 20000, LARGE = 2000, KEPT = 20 };

/* An allocator with its probes in it, as compilers write them; arguments are wherever they happen to be. */
static const char tells[] =
	"#include <stdlib.h>\n"
	"unsigned short listened __attribute__((section(\".probes\")));\n"
	"#define NOTE(name, args) \"990: nop\\n\" \\\n"
	"\t\".pushsection .note.stapsdt, \\\"\\\", \\\"note\\\"\\n.balign 4\\n\" \\\n"
	"\t\".4byte 992f - 991f, 994f - 993f, 3\\n991: .asciz \\\"stapsdt\\\"\\n992: .balign 4\\n\" \\\n"
	"\t\"993: .8byte 990b, 0, listened\\n.asciz \\\"otel_memory\\\", \\\"\" name \"\\\", \\\"\" args "
	"\"\\\"\\n\" \\\n"
	"\t\"994: .balign 4\\n.popsection\\n\"\n"
	"void *volatile it;\nsize_t size_now;\n"
	"__attribute__((noinline)) void *small(int cnt)\n{\n"
	"\tvolatile size_t weight = 4000;\n\tvoid *memory = malloc(100);\n\n"
	"\tsize_now = 100;\n"
	"\tif (listened && cnt % 40 == 0)\n"
	"\t\t__asm__ volatile(NOTE(\"alloc\", \"8@%0 8@%1 8@%2\") : : \"r\"(memory), \"m\"(size_now), "
	"\"m\"(weight));\n"
	"\treturn memory;\n}\n"
	"__attribute__((noinline)) void large(int cnt)\n{\n"
	"\tvoid *memory = malloc(30000);\n\n"
	"\t__asm__ volatile(NOTE(\"alloc\", \"8@%0 -4@%1 4@%2\") : : \"r\"(memory), \"n\"(30000), "
	"\"r\"(30000));\n"
	"\t__asm__ volatile(NOTE(\"free\", \"8@%0\") : : \"r\"(memory));\n"
	"\tfree(memory);\n}\n"
	"int main(void)\n{\n"
	"\tfor (int i = 0; i < 4000; i++) {\n\t\tit = small(i);\n\t\tlarge(i);\n\t}\n\treturn 0;\n}\n";

static void build(const char *name, const char *source, const char *options)
{
	char path[32], command[512];

	snprintf(path, sizeof(path), "%s.c", name);
	snprintf(command, sizeof(command), "gcc -O1 -fno-omit-frame-pointer -fno-builtin -g %s -o %s %s.c",
		 options, name, name);
	fixture_build(path, source, command);
}

static int setup(void **state)
{
	char exe[4000] = "";

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return -1;
	snprintf(library, sizeof(library), "%s/../../../libtrailcam-alloc.so", dirname(exe));
	if (access(library, R_OK) || !realpath(library, exe)) {
		printf("skipped: there is no %s\n", library);
		_exit(0);
	}
	snprintf(library, sizeof(library), "%s", exe);
	if (fixture_enter(state))
		return -1;
	build("allocates", allocates, "");
	build("own", allocates, "-DOWN");
	build("tells", tells, "");
	return 0;
}

/* ---- recording ---- */

static int record_child(struct alloc_recorder_config config, struct launch *launch)
{
	CLEANUP(alloc_recording_freep) struct alloc_recording *recording = NULL;
	CLEANUP(output_abortp) struct output *output = NULL;
	int status = 0, err;

	config.pid = launch->pid;
	config.live_max = 1 << 16;
	assert_ok(output_open(&output, "t.ctf"));
	err = alloc_recording_new(&recording, &config, config.exe, output);
	if (err)
		return err;
	launch_go(launch);
	assert_ok(launch_error(launch, config.exe));
	while (!waitpid(launch->pid, &status, WNOHANG)) {
		usleep(1000);
		assert_ok(alloc_recording_take(recording));
	}
	assert_int_equal(status, 0);
	assert_ok(alloc_recording_finish(recording));
	assert_int_equal(alloc_recording_counts(recording).recorder.lost, 0);
	return output_close(TAKE_PTR(output));
}

/* `sampled_every`: the interval of the library in the program; NULL: it is not there. */
static int record(struct alloc_recorder_config config, const char *sampled_every)
{
	CLEANUP(launch_release) struct launch launch = {.go_fd = -1, .err_fd = -1};
	char *argv[] = {(char *)config.exe, NULL};
	int err;

	if (sampled_every) {
		setenv("LD_PRELOAD", library, 1);
		setenv("TRAILCAM_ALLOC_INTERVAL", sampled_every, 1);
	}
	assert_ok(launch_prepare(&launch, &(struct launch_program){.path = config.exe, .argv = argv}));
	err = record_child(config, &launch);
	unsetenv("LD_PRELOAD");
	unsetenv("TRAILCAM_ALLOC_INTERVAL");
	if (err == -EPERM) {
		printf("skipped: %s\n", fail_message(err));
		skip();
	}
	return err;
}

static const char *innermost(struct memtrace_reader *reader, const struct memtrace_event *event, size_t nth)
{
	const struct memtrace_location *locations;
	int cnt = event->frame_cnt > nth
			  ? memtrace_reader_locations(reader, event->frames[event->frame_cnt - 1 - nth],
						      &locations)
			  : 0;

	return cnt > 0 ? locations[cnt - 1].function : "";
}

static void add_event(struct trace *trace, struct memtrace_reader *reader, const struct memtrace_event *event)
{
	struct sum *sums[] = {&trace->small, &trace->large, &trace->kept}, *sum = NULL;
	const struct memtrace_info *info = memtrace_reader_info(reader);
	uint64_t bytes = (uint64_t)((double)event->nsamples / info->sample_rate * (info->word_bits / 8));

	if (event->kind == MEMTRACE_COLLECT) {
		trace->ends++;
		return;
	}
	for (size_t i = 0; i < 3; i++)
		if (!strcmp(sums[i]->function, innermost(reader, event, 0)))
			sum = sums[i];
	if (!sum) {
		trace->other_bytes += bytes;
		return;
	}
	sum->allocs++;
	sum->bytes += event->length * 8;
	sum->sampled += bytes;
	sum->with_main += !strcmp(innermost(reader, event, 1), "main");
}

static struct trace read_trace(void)
{
	CLEANUP(memtrace_reader_closep) struct memtrace_reader *reader = NULL;
	struct trace trace = {.small.function = "small", .large.function = "large", .kept.function = "kept"};
	struct memtrace_event event;

	assert_ok(memtrace_reader_open(&reader, "t.ctf", NULL));
	while (memtrace_reader_next(reader, &event) > 0)
		add_event(&trace, reader, &event);
	return trace;
}

/* ---- the library ---- */

static void expect_exact(struct trace trace)
{
	assert_int_equal(trace.small.allocs, SMALL);
	assert_int_equal(trace.small.bytes, SMALL * 104);
	assert_int_equal(trace.small.sampled, SMALL * 104);
	assert_int_equal(trace.small.with_main, SMALL);
	assert_int_equal(trace.large.allocs, LARGE);
	assert_int_equal(trace.large.sampled, LARGE * 30000);
	assert_int_equal(trace.large.with_main, LARGE);
	assert_int_equal(trace.kept.allocs, KEPT);
	assert_int_equal(trace.other_bytes, 0);
	assert_int_equal(trace.ends, SMALL + LARGE);
}

TEST(test_each_allocation_is_told_with_its_callers)
{
	struct alloc_recorder_config config = {.exe = "./allocates",
					       .allocator = library,
					       .interval_bytes = 1,
					       .stack_bytes = 1024,
					       .sampler = ALLOC_SAMPLER_USDT};

	assert_ok(record(config, "1"));
	expect_exact(read_trace());
}

TEST(test_frame_pointers_lead_to_the_callers_too)
{
	struct alloc_recorder_config config = {
		.exe = "./allocates", .interval_bytes = 1, .sampler = ALLOC_SAMPLER_AUTO};

	assert_ok(record(config, "1"));
	expect_exact(read_trace());
}

TEST(test_it_is_alone_in_a_program_with_an_allocator_of_its_own)
{
	struct alloc_recorder_config config = {
		.exe = "./own", .interval_bytes = 1, .stack_bytes = 1024, .sampler = ALLOC_SAMPLER_AUTO};

	assert_ok(record(config, "1"));
	expect_exact(read_trace());
}

TEST(test_without_it_functions_are_probed)
{
	struct alloc_recorder_config config = {
		.exe = "./allocates", .interval_bytes = 1, .stack_bytes = 1024};

	assert_ok(record(config, NULL));
	expect_exact(read_trace());
}

/*
 * The program's samples are of another interval than the recording's, from which they are drawn once more, or
 * of which each is several. The estimate's variance is less than the bytes times both intervals.
 */
static void expect_estimate(const char *sampled_every, uint64_t interval)
{
	struct alloc_recorder_config config = {.exe = "./allocates",
					       .allocator = library,
					       .interval_bytes = interval,
					       .stack_bytes = 1024,
					       .sampler = ALLOC_SAMPLER_USDT};
	double bytes = SMALL * 100. + LARGE * 30000. + KEPT * 64., off,
	       variance = bytes * (double)(interval + strtoul(sampled_every, NULL, 10));
	struct trace trace;

	assert_ok(record(config, sampled_every));
	trace = read_trace();
	off = (double)(trace.small.sampled + trace.large.sampled + trace.kept.sampled) - bytes;
	printf("by %s at %lu: %.2f variances off\n", sampled_every, (unsigned long)interval,
	       off * off / variance);
	assert_true(off * off < 25 * variance);
	assert_true(trace.small.allocs && trace.large.allocs);
}

TEST(test_samples_of_another_interval_add_up)
{
	expect_estimate("4096", 4096);
	expect_estimate("4096", 128);
	expect_estimate("1000", 65536);
}

/* ---- an allocator's own ---- */

TEST(test_an_allocators_own_probes_are_listened_to)
{
	struct alloc_recorder_config config = {
		.exe = "./tells", .interval_bytes = 1, .stack_bytes = 1024, .sampler = ALLOC_SAMPLER_USDT};
	struct trace trace;

	assert_ok(record(config, NULL));
	trace = read_trace();
	assert_int_equal(trace.small.allocs, 100);
	assert_int_equal(trace.small.bytes, 100 * 104);
	assert_int_equal(trace.small.sampled, 100 * 4000);
	assert_int_equal(trace.large.allocs, 4000);
	assert_int_equal(trace.large.sampled, 4000 * 30000);
	assert_int_equal(trace.ends, 4000);
}

TEST(test_who_has_no_probes_is_told)
{
	struct alloc_recorder_config config = {
		.exe = "./allocates", .interval_bytes = 1, .sampler = ALLOC_SAMPLER_USDT};

	assert_err(record(config, NULL), -ENOENT, "have the probes otel_memory:alloc and otel_memory:free");
	config.allocator = "libc.so.6";
	assert_err(record(config, NULL), -ENOENT, "libc.so.6 has no probes otel_memory:alloc");
}

/* ---- preloading ---- */

TEST(test_what_loads_no_library_is_refused)
{
	char *path = NULL;

	build("fixed", "int main(void) { return 0; }\n", "-static");
	assert_err(alloc_preload("./fixed", 1, &path), -ENOTSUP, "./fixed is linked statically");
	build("fixed", "int main(void) { return 0; }\n", "");
	assert_int_equal(chmod("./fixed", 06755), 0);
	if (!geteuid())
		assert_int_equal(chown("./fixed", 65534, 65534) + chmod("./fixed", 06755), 0);
	if (!geteuid())
		assert_err(alloc_preload("./fixed", 1, &path), -ENOTSUP,
			   "privileges that its user does not have");
	assert_err(alloc_preload("./allocates", 1, &path), -ENOENT, "libtrailcam-alloc.so is neither in");
	assert_null(getenv("LD_PRELOAD"));
}

TEST_MAIN(setup, fixture_leave)
