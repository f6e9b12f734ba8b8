/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel itself tells of a real process, by a dummy event as the intel_pt source has it on each
 * processor.
 */
#include "history/history.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assertions.h"
#include "model/record_list.h"
#include "model/sideband.h"
#include "source/pt_event.h"
#include "source/pt_ring.h"

enum { CPU_MAX = 256, DATA_SIZE = 64 << 10 };

struct recorder {
	int fds[CPU_MAX];
	struct pt_event_map maps[CPU_MAX];
	int cnt;
	struct record_list records;
};

static int record(void *ctx, const struct perf_event_header *record)
{
	return record_list_add(ctx, record);
}

/* -errno: it is not allowed here. */
static int watch(struct recorder *recorder, pid_t pid)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY,
				       .size = sizeof(attr),
				       .sample_type = SIDEBAND_SAMPLE_TYPE,
				       .sample_id_all = 1,
				       .exclude_kernel = 1,
				       .inherit = 1,
				       .mmap = 1,
				       .mmap2 = 1,
				       .comm = 1,
				       .comm_exec = 1,
				       .task = 1,
				       .context_switch = 1};

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF) && cpu < CPU_MAX; cpu++) {
		int fd = pt_event_open(&attr, pid, cpu, -1);

		if (fd < 0)
			return fd;
		recorder->fds[recorder->cnt] = fd;
		if (pt_event_map(fd, DATA_SIZE, 0, false, &recorder->maps[recorder->cnt]))
			return -EPERM;
		recorder->cnt++;
	}
	return 0;
}

/* A shell that waits, and has a child that becomes another program. */
static void run_shell(const int go[2])
{
	char byte;

	close(go[1]);
	if (read(go[0], &byte, 1) == 1)
		execl("/bin/sh", "sh", "-c", "sleep 0.02; /bin/echo >/dev/null; exit 0", NULL);
	_exit(1);
}

static const struct history_process *process_with(const struct history *history,
						  const struct snapshot *snapshot, const char *path)
{
	struct sideband_record record;
	size_t pos = 0;

	while (sideband_next(snapshot, &pos, &record) > 0)
		if (record.type == PERF_RECORD_MMAP2 && strstr(record.mapping.name, path))
			return history_process((struct history *)history, record.pid);
	return NULL;
}

/* Each of the last image's sections is found by its address, and is code of a file. */
static size_t check_code(const struct history_process *process)
{
	size_t version = image_version_cnt(process->image) - 1, checked = 0;

	IMAGE_FOR_EACH_SECTION (section, process->image, version) {
		CLEANUP(fclosep) FILE *file = section->path ? fopen(section->path, "re") : NULL;
		uint8_t code[64];

		if (!file)
			continue;
		assert_int_equal(fseek(file, (long)section->file_offset, SEEK_SET), 0);
		assert_int_equal(fread(code, 1, sizeof(code), file), sizeof(code));
		assert_ptr_equal(image_section_at(process->image, version, section->addr), section);
		checked++;
	}
	return checked;
}

TEST(a_real_process_is_understood)
{
	static struct recorder recorder;
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	CLEANUP(history_freep) struct history *history = NULL;
	const struct history_process *shell, *child;
	int go[2], status;
	pid_t pid;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid)
		run_shell(go);
	if (watch(&recorder, pid)) {
		close(go[1]);
		waitpid(pid, &status, 0);
		skip();
	}
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ok(snapshot_new(&snapshot));
	for (int i = 0; i < recorder.cnt; i++)
		assert_ok(pt_ring_records(&recorder.maps[i], record, &recorder.records));
	snapshot->clock.mult = 1; /* the TSC plays no part here: times are the records' */
	assert_ok(record_list_take(&recorder.records, snapshot));
	assert_ok(history_new(&history, snapshot, NULL));

	shell = history_process(history, pid);
	assert_non_null(shell);
	assert_true(shell->exec_cnt == 1);
	assert_string_equal(history_thread(history, pid)->name, "sh");
	assert_true(check_code(shell) >= 2); /* itself and the C library at least */
	child = process_with(history, snapshot, "/echo");
	assert_non_null(child);
	assert_int_not_equal(child->pid, pid);
	assert_string_equal(history_thread(history, child->pid)->name, "echo");
	assert_true(check_code(child) >= 2);
	/* It slept. */
	for (size_t i = 1; i < history->switch_cnt; i++)
		assert_true(history->switches[i].tsc >= history->switches[i - 1].tsc);
	assert_true(history->switch_cnt >= 4);
	for (int i = 0; i < recorder.cnt; i++) {
		pt_event_unmap(&recorder.maps[i]);
		close(recorder.fds[i]);
	}
	record_list_release(&recorder.records);
	close(go[0]);
	close(go[1]);
}

TEST_MAIN(NULL, NULL)
