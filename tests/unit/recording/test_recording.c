/* SPDX-License-Identifier: BSD-2-Clause */
#include "assertions.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/arena.h"
#include "model/sideband.h"
#include "recording/recording.h"

static char dir[] = "/tmp/trailcam-recording-XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static uint8_t *some_bytes(size_t size, unsigned int seed)
{
	uint8_t *bytes = malloc(size);

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(seed + i * 31);
	return bytes;
}

/* A snapshot with something in every field; AUX sizes that are no multiple of 8. */
static struct snapshot *make_snapshot(void)
{
	struct sideband_mapping mapping = {.addr = 0x400000,
					   .size = 0x2000,
					   .file_offset = 0x1000,
					   .maj = 8,
					   .min = 1,
					   .ino = 77,
					   .name = "/bin/prog"};
	struct snapshot *snapshot;
	struct caught_hit hit = {
		.hit = {.time_ns = 123, .tid = 12, .trigger = 1, .stack_cnt = 2, .comm = "prog"},
		.regs = {0, 1, UINT64_MAX, 0x7fff12345678},
		.args = {77},
		.stack = {1, 2}};

	assert_ok(snapshot_new(&snapshot));
	snapshot->params = (struct trace_params){.pmu_type = 6,
						 .config = 0x300e601,
						 .family = 6,
						 .model = 78,
						 .stepping = 3,
						 .max_nonturbo_ratio = 24,
						 .tsc_ctc_ratio_n = 300,
						 .tsc_ctc_ratio_d = 2};
	snapshot->clock = (struct trace_clock){
		.mult = 11, .shift = 3, .zero = 99, .monotonic_ns = 5, .trace_ns = 6, .realtime_ns = 7};
	snapshot->source = strdup("step");
	snapshot->command = strdup("prog with arguments");
	for (int i = 0; i < 3; i++) {
		struct aux_trace *aux = snapshot_add_aux(snapshot);

		*aux = (struct aux_trace){.pid = 11,
					  .tid = 11 + i,
					  .cpu = -1,
					  .offset = 1000u * (unsigned int)i,
					  .ref_tsc = 42 + (uint64_t)i,
					  .size = 100 + (size_t)i * 3};
		aux->bytes = some_bytes(aux->size, (unsigned int)i);
	}
	assert_ok(sideband_add_comm(snapshot, 11, 11, 1000, "prog", 1));
	assert_ok(sideband_add_mmap(snapshot, 11, 11, 1001, &mapping));
	assert_ok(sideband_add_task(snapshot, PERF_RECORD_EXIT, 11, 11, 11, 11, 1002));
	snapshot->triggers = calloc(2, sizeof(char *));
	snapshot->triggers[0] = strdup("first");
	snapshot->triggers[1] = strdup("second");
	snapshot->trigger_cnt = snapshot->trigger_cap = 2;
	assert_ok(hit_list_add(snapshot->hits, &hit));
	assert_ok(snapshot_add_value_name(snapshot, "str(arg1)"));
	assert_ok(snapshot_add_value(snapshot, 0, 0, VALUE_NUMBER, strdup("-7")));
	assert_ok(snapshot_add_value(snapshot, 0, 0, VALUE_TEXT, NULL));
	snapshot->alloc_interval = 4096;
	snapshot->alloc_functions = calloc(1, sizeof(char *));
	snapshot->alloc_functions[0] = strdup("malloc");
	snapshot->alloc_function_cnt = snapshot->alloc_function_cap = 1;
	snapshot->allocs = calloc(2, sizeof(struct alloc));
	snapshot->allocs[0] =
		(struct alloc){.time_ns = 5, .address = 0x1000, .size = 77, .samples = 1, .tid = 12};
	snapshot->allocs[1] = (struct alloc){.time_ns = 6, .address = 0x1000, .kind = ALLOC_FREED, .tid = 13};
	snapshot->alloc_cnt = snapshot->alloc_cap = 2;
	snapshot->alloc_stacks = calloc(1, sizeof(*snapshot->alloc_stacks));
	assert_non_null(
		word_pool_keep(snapshot->alloc_stacks, (const uint64_t[]){11, 0x401010, 0x401020}, 3));
	snapshot->alloc_stack_of = calloc(2, sizeof(uint32_t));
	snapshot->alloc_stack_of[0] = 1;
	for (int i = 0; i < 4; i++) {
		struct code_copy *copy = snapshot_add_copy(snapshot);

		*copy = (struct code_copy){.pid = i == 3 ? 12 : 11,
					   .addr = i ? 0x401000 : 0x7fff0000,
					   .size = 4096 + (size_t)i,
					   .from_ns = i ? 77 : 0,
					   .name = strdup(i ? "/bin/prog" : "[vdso]"),
					   .has_run = i == 2};
		copy->bytes = some_bytes(copy->size, 100 + (unsigned int)i);
	}
	return snapshot;
}

static void assert_same_hit(const struct hit *a, const struct hit *b)
{
	struct caught_hit ours = {0}, theirs = {0};

	hit_unpack(a, &ours);
	hit_unpack(b, &theirs);
	ours.hit.state = theirs.hit.state = NULL;
	ours.hit.stack = theirs.hit.stack = NULL;
	assert_memory_equal(&ours, &theirs, sizeof(ours));
}

static void assert_same(const struct snapshot *a, const struct snapshot *b)
{
	assert_memory_equal(&a->params, &b->params, sizeof(a->params));
	assert_int_equal(a->clock.mult, b->clock.mult);
	assert_int_equal(a->clock.shift, b->clock.shift);
	assert_int_equal(a->clock.zero, b->clock.zero);
	assert_int_equal(a->clock.monotonic_ns, b->clock.monotonic_ns);
	assert_int_equal(a->clock.trace_ns, b->clock.trace_ns);
	assert_int_equal(a->clock.realtime_ns, b->clock.realtime_ns);
	assert_string_equal(a->source, b->source);
	assert_string_equal(a->command, b->command);
	assert_int_equal(a->aux_cnt, b->aux_cnt);
	for (size_t i = 0; i < a->aux_cnt; i++) {
		assert_int_equal(a->aux[i].pid, b->aux[i].pid);
		assert_int_equal(a->aux[i].tid, b->aux[i].tid);
		assert_int_equal(a->aux[i].cpu, b->aux[i].cpu);
		assert_int_equal(a->aux[i].offset, b->aux[i].offset);
		assert_int_equal(a->aux[i].ref_tsc, b->aux[i].ref_tsc);
		assert_int_equal(a->aux[i].size, b->aux[i].size);
		assert_memory_equal(a->aux[i].bytes, b->aux[i].bytes, a->aux[i].size);
	}
	assert_int_equal(a->sideband_size, b->sideband_size);
	assert_memory_equal(a->sideband, b->sideband, a->sideband_size);
	assert_int_equal(a->hits->cnt, b->hits->cnt);
	for (size_t i = 0; i < a->hits->cnt; i++)
		assert_same_hit(a->hits->hits[i], b->hits->hits[i]);
	assert_int_equal(a->alloc_interval, b->alloc_interval);
	assert_int_equal(a->alloc_function_cnt, b->alloc_function_cnt);
	for (size_t i = 0; i < a->alloc_function_cnt; i++)
		assert_string_equal(a->alloc_functions[i], b->alloc_functions[i]);
	assert_int_equal(a->alloc_cnt, b->alloc_cnt);
	assert_memory_equal(a->allocs, b->allocs, a->alloc_cnt * sizeof(struct alloc));
	assert_int_equal(a->alloc_stacks->cnt, b->alloc_stacks->cnt);
	for (size_t i = 0; i < a->alloc_stacks->cnt; i++) {
		const struct word_run *ours = &a->alloc_stacks->runs[i], *theirs = &b->alloc_stacks->runs[i];

		assert_int_equal(ours->cnt, theirs->cnt);
		assert_memory_equal(ours->words, theirs->words, ours->cnt * sizeof(uint64_t));
	}
	assert_memory_equal(a->alloc_stack_of, b->alloc_stack_of, a->alloc_cnt * sizeof(uint32_t));
	assert_int_equal(b->value_name_cnt, 1);
	assert_string_equal(b->value_names[0], "str(arg1)");
	assert_int_equal(b->value_cnt, 2);
	assert_string_equal(b->values[0].text, "-7");
	assert_int_equal(b->values[0].kind, VALUE_NUMBER);
	assert_null(b->values[1].text);
	assert_int_equal(a->trigger_cnt, b->trigger_cnt);
	for (size_t i = 0; i < a->trigger_cnt; i++)
		assert_string_equal(a->triggers[i], b->triggers[i]);
	assert_int_equal(a->copy_cnt, b->copy_cnt);
}

static void assert_copies_on_disk(const struct snapshot *saved, const struct snapshot *loaded)
{
	for (size_t i = 0; i < saved->copy_cnt; i++) {
		const struct code_copy *a = &saved->copies[i], *b = &loaded->copies[i];
		uint8_t *bytes = malloc(a->size + 1);
		FILE *file = fopen(b->path, "re");
		bool is_shared = strcmp(a->name, "[vdso]");

		assert_int_equal(a->pid, b->pid);
		assert_int_equal(a->addr, b->addr);
		assert_int_equal(a->from_ns, b->from_ns);
		assert_int_equal(a->size, b->size);
		assert_string_equal(a->name, b->name);
		assert_int_equal(a->has_run, b->has_run);
		assert_string_equal(strrchr(b->path, '/'), is_shared ? "/code" : "/code.11.7fff0000.0");
		assert_non_null(file);
		assert_int_equal(fseek(file, (long)b->file_offset, SEEK_SET), 0);
		assert_int_equal(fread(bytes, 1, a->size + 1, file),
				 a->size + (is_shared && i + 1 < saved->copy_cnt));
		assert_memory_equal(bytes, a->bytes, a->size);
		fclose(file);
		free(bytes);
	}
}

TEST(test_round_trip)
{
	struct snapshot *saved = make_snapshot(), *loaded;

	assert_ok(recording_save(saved, in_dir("rec")));
	assert_ok(recording_load(&loaded, in_dir("rec")));
	assert_same(saved, loaded);
	assert_copies_on_disk(saved, loaded);
	snapshot_free(loaded);
	assert_ok(recording_load(&loaded, in_dir("rec/data")));
	assert_same(saved, loaded);
	snapshot_free(loaded);
	snapshot_free(saved);
}

TEST(test_replaces_a_recording_only)
{
	struct snapshot *snapshot = make_snapshot(), *loaded;

	assert_ok(recording_save(snapshot, in_dir("again")));
	free(snapshot->command);
	snapshot->command = strdup("newer");
	assert_ok(recording_save(snapshot, in_dir("again/")));
	assert_ok(recording_load(&loaded, in_dir("again")));
	assert_string_equal(loaded->command, "newer");
	snapshot_free(loaded);
	assert_int_equal(mkdir(in_dir("other"), 0777), 0);
	assert_ok(recording_check_target(in_dir("other"))); /* empty */
	fclose(fopen(in_dir("other/precious"), "we"));
	assert_err(recording_save(snapshot, in_dir("other")), -EEXIST, "is not a recording");
	assert_int_equal(access(in_dir("other/precious"), F_OK), 0);
	assert_err(recording_save(snapshot, in_dir("no/where")), -ENOENT, "no/where");
	assert_err(recording_check_target("."), -EINVAL, "new directory");
	snapshot_free(snapshot);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* A recording whose hits have another layout is refused by what it is, not as a damaged one. */
TEST(test_other_hits)
{
	enum { HITS_VERSION = 5 };
	static const char last_trigger[] = "second";
	struct snapshot *snapshot = make_snapshot(), *loaded;
	char bytes[1 << 14], *at;
	size_t size;
	FILE *file;

	assert_ok(recording_save(snapshot, in_dir("hits")));
	snapshot_free(snapshot);
	file = fopen(in_dir("hits/data"), "re");
	assert_non_null(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_in_range(size, 1, sizeof(bytes) - 1);
	at = memmem(bytes, size, last_trigger, strlen(last_trigger));
	assert_non_null(at);
	assert_int_equal(at[strlen(last_trigger)], HITS_VERSION);
	at[strlen(last_trigger)]++;
	write_file(in_dir("hits/data"), bytes, size);
	assert_err(recording_load(&loaded, in_dir("hits")), -ENOTSUP, "by a newer trailcam (hits version");
	at[strlen(last_trigger)] = 1;
	write_file(in_dir("hits/data"), bytes, size);
	assert_err(recording_load(&loaded, in_dir("hits")), -ENOTSUP,
		   "by an older trailcam (hits version 1;");
}

TEST(test_refusals)
{
	struct snapshot *loaded;
	char header[104] = "PERFILE2";

	assert_err(recording_load(&loaded, in_dir("nothing")), -ENOENT, "nothing");
	write_file(in_dir("text"), "hello, this is text and not a recording", 39);
	assert_err(recording_load(&loaded, in_dir("text")), -EBADMSG, "not a recording");
	write_file(in_dir("text"), "", 0);
	assert_err(recording_load(&loaded, in_dir("text")), -EBADMSG, "empty");
	write_file(in_dir("text"), header, 50);
	assert_err(recording_load(&loaded, in_dir("text")), -EBADMSG, "cut off");
	write_file(in_dir("text"),
		   "2ELIFREP................................................................................."
		   "...............",
		   104);
	assert_err(recording_load(&loaded, in_dir("text")), -ENOTSUP, "byte order");
	write_file(in_dir("text"), header, 104);
	assert_err(recording_load(&loaded, in_dir("text")), -ENOTSUP, "layout");
	header[8] = 104;
	write_file(in_dir("text"), header, 104);
	assert_err(recording_load(&loaded, in_dir("text")), -EBADMSG, "not finished");
}

TEST(test_perfs_own)
{
	static const char path[] = "../shared/corpus/perf-data/intel_pt-4.14.perf.data";
	struct snapshot *loaded;

	if (access(path, R_OK)) {
		print_message("skipped: %s is not there\n", path);
		skip();
	}
	assert_ok(recording_load(&loaded, path));
	assert_int_equal(loaded->aux_cnt, 2);
	assert_int_equal(loaded->aux[1].cpu, 3);
	assert_int_equal(loaded->aux[1].size, 0x21a00);
	assert_int_equal(loaded->params.family, 6);
	assert_int_equal(loaded->params.model, 78);
	assert_int_equal(loaded->params.stepping, 3);
	assert_int_equal(loaded->params.config, 0x300e601);
	assert_int_equal(loaded->params.max_nonturbo_ratio, 12);
	assert_string_equal(loaded->command, "echo Hello, World!");
	assert_int_equal(loaded->clock.shift, 31);
	assert_non_null(snapshot_build_id(loaded, "[kernel.kallsyms]"));
	snapshot_free(loaded);
}

TEST(test_every_cut)
{
	struct snapshot *saved = make_snapshot(), *loaded;
	struct stat st;
	uint8_t *bytes;
	FILE *file;

	assert_ok(recording_save(saved, in_dir("cuts")));
	assert_int_equal(stat(in_dir("cuts/data"), &st), 0);
	bytes = malloc((size_t)st.st_size);
	file = fopen(in_dir("cuts/data"), "re");
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, file), st.st_size);
	fclose(file);
	for (off_t size = 0; size < st.st_size; size++) {
		write_file(in_dir("cut"), bytes, (size_t)size);
		assert_err(recording_load(&loaded, in_dir("cut")), -EBADMSG, "cut");
	}
	free(bytes);
	snapshot_free(saved);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TEST_MAIN(make_dir, remove_dir)
