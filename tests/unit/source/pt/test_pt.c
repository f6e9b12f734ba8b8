/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source on a kernel that refuses one thing after the other: the system calls are this file's. What they
 * really do is tested in virtual machines.
 */
#include "assertions.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/sideband.h"
#include "source/pt/pt.h"
#include "source/pt_event.h"

enum { FD_BASE = 1000, PAGE = 4096 };

/* ---- the kernel ---- */

static struct {
	int open_err, map_err, redirect_err, enable_err, disable_err; /* what the nth call returns */
	int nth;						      /* counted from 0; -1: every */
	int calls;
	bool knows_inherit_thread, knows_pause, has_clock;
	int cpu_off; /* a processor that is off, or -1 */
	int opened, traces, mapped, enabled;
	size_t aux_size;
	bool to_be_read;
} kernel;

static int give(int err)
{
	return err && (kernel.nth < 0 || kernel.calls++ == kernel.nth) ? err : 0;
}

int pt_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	int err = give(kernel.open_err);

	(void)pid;
	if (err)
		return err;
	if (cpu == kernel.cpu_off)
		return -ENODEV;
	if ((attr->inherit_thread && !kernel.knows_inherit_thread) || (group >= 0 && !kernel.knows_pause))
		return -EINVAL;
	if (group < 0)
		kernel.traces += attr->type == 8;
	return FD_BASE + kernel.opened++;
}

int pt_event_redirect(int fd, int to)
{
	assert_true(fd > to);
	return give(kernel.redirect_err);
}

int pt_event_set_filter(int fd, const char *filter)
{
	(void)fd;
	return strstr(filter, "bad") ? -EINVAL : 0;
}

int pt_event_enable(int fd)
{
	(void)fd;
	kernel.enabled++;
	return give(kernel.enable_err);
}

int pt_event_disable(int fd)
{
	(void)fd;
	kernel.enabled--;
	return give(kernel.disable_err);
}

int pt_event_printk_id(void)
{
	return 77;
}

int pt_event_map(int fd, size_t data_size, size_t aux_size, bool to_be_read, struct pt_event_map *ret_map)
{
	int err = give(kernel.map_err);

	(void)fd;
	if (err)
		return err;
	*ret_map = (struct pt_event_map){.page = calloc(1, PAGE + data_size),
					 .data_size = data_size,
					 .aux = calloc(1, aux_size),
					 .aux_size = aux_size};
	assert_true(ret_map->page && ret_map->aux);
	ret_map->page->data_offset = PAGE;
	ret_map->page->cap_user_time_zero = kernel.has_clock;
	ret_map->page->time_mult = 1;
	kernel.mapped++;
	kernel.aux_size = aux_size;
	kernel.to_be_read = to_be_read;
	return 0;
}

void pt_event_unmap(struct pt_event_map *map)
{
	kernel.mapped -= map->page != NULL;
	free(map->page);
	free(map->aux);
	*map = (struct pt_event_map){0};
}

/* ---- the machine ---- */

static char dir[] = "/tmp/trailcam-pt-XXXXXX";

static int make_sysfs(void **state)
{
	char path[64];
	FILE *file;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/type", dir);
	file = fopen(path, "we");
	fputs("8\n", file);
	return fclose(file);
}

static int remove_sysfs(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/type", dir);
	return unlink(path) || rmdir(dir);
}

static struct pt *start(bool pause)
{
	struct pt_config config = {.sysfs = dir, .ring_size = 1 << 16, .pause = pause};
	struct pt *pt;

	memset(&kernel, 0, sizeof(kernel));
	kernel.knows_inherit_thread = kernel.knows_pause = kernel.has_clock = true;
	kernel.cpu_off = -1;
	kernel.nth = -1;
	assert_ok(pt_new(&pt, &config));
	return pt;
}

static int cpu_cnt(void)
{
	return (int)sysconf(_SC_NPROCESSORS_CONF);
}

TEST(test_events)
{
	struct pt *pt = start(false);

	assert_ok(pt_add(pt, getpid(), true));
	assert_int_equal(kernel.opened, 2 * cpu_cnt());
	assert_int_equal(kernel.traces, cpu_cnt());
	assert_int_equal(kernel.mapped, cpu_cnt());
	assert_int_equal(kernel.aux_size, 1 << 16);
	assert_false(kernel.to_be_read);
	assert_ok(pt_start(pt));
	assert_int_equal(kernel.enabled, cpu_cnt());
	assert_ok(pt_stop(pt, 0));
	assert_int_equal(kernel.enabled, 0);
	pt_free(pt);
	assert_int_equal(kernel.mapped, 0);
}

/* Older kernels: no inherit_thread (5.13), no pause (6.13). */
TEST(test_older_kernel)
{
	struct pt *pt = start(true);

	kernel.knows_inherit_thread = kernel.knows_pause = false;
	assert_ok(pt_add(pt, getpid(), true));
	assert_false(pt_pauses(pt));
	pt_free(pt);
	pt = start(true);
	assert_ok(pt_add(pt, getpid(), true));
	assert_true(pt_pauses(pt));
	pt_free(pt);
}

TEST(test_a_processor_is_off)
{
	struct pt *pt = start(false);

	kernel.cpu_off = cpu_cnt() - 1;
	assert_ok(pt_add(pt, getpid(), true));
	assert_int_equal(kernel.mapped, cpu_cnt() - 1);
	pt_free(pt);
}

TEST(test_refusals)
{
	static const struct {
		int err;
		const char *text;
	} refusals[] = {
		{-EACCES, "perf_event_paranoid"}, {-EPERM, "--snapshot-size"}, {-EBUSY, "in use"},
		{-ENOMEM, "no memory"},		  {-EMFILE, "ulimit -n"},      {-ESRCH, "has ended"},
	};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		/* whichever call it is */
		for (int nth = 0; nth < 2 * cpu_cnt(); nth++) {
			struct pt *pt = start(false);

			kernel.nth = nth;
			kernel.open_err = refusals[i].err;
			assert_err(pt_add(pt, getpid(), true), refusals[i].err, refusals[i].text);
			pt_free(pt);
			assert_int_equal(kernel.mapped, 0);
		}
	}
	for (int nth = 0; nth < cpu_cnt(); nth++) {
		struct pt *pt = start(false);

		kernel.nth = nth;
		kernel.map_err = -EPERM;
		assert_err(pt_add(pt, getpid(), true), -EPERM, "CAP_IPC_LOCK");
		pt_free(pt);
		assert_int_equal(kernel.mapped, 0);
	}
}

TEST(test_no_clock)
{
	struct pt *pt = start(false);

	kernel.has_clock = false;
	assert_err(pt_add(pt, getpid(), true), -ENOTSUP, "TSC is unstable");
	pt_free(pt);
}

TEST(test_trace_cannot_start_or_stop)
{
	struct pt *pt = start(false);

	assert_ok(pt_add(pt, getpid(), true));
	kernel.enable_err = -EIO;
	assert_err(pt_start(pt), -EIO, "cannot start");
	kernel.disable_err = -EIO;
	assert_err(pt_stop(pt, -1), -EIO, "cannot stop");
	assert_err(pt_set_filter(pt, "bad filter"), -EINVAL, "bad filter");
	pt_free(pt);
}

/* A process that runs already: its mappings are told as the kernel would have. */
TEST(test_attach)
{
	CLEANUP(snapshot_freep) struct snapshot *snapshot = NULL;
	struct pt *pt = start(false);
	struct sideband_record record;
	bool has_vdso = false, has_name = false;
	size_t pos = 0;

	assert_ok(pt_add(pt, getpid(), false));
	assert_ok(snapshot_new(&snapshot));
	assert_ok(pt_snapshot(pt, snapshot));
	assert_int_equal(snapshot->aux_cnt, 0);
	while (sideband_next(snapshot, &pos, &record) > 0) {
		assert_int_equal(record.pid, getpid());
		has_vdso |= record.type == PERF_RECORD_MMAP2 && !strcmp(record.mapping.name, "[vdso]");
		has_name |= record.type == PERF_RECORD_COMM && !strcmp(record.name, "test_pt");
	}
	assert_true(has_vdso && has_name);
	assert_ok(pt_describe(pt, snapshot));
	assert_string_equal(snapshot->source, "intel_pt");
	assert_int_equal(snapshot->params.pmu_type, 8);
	assert_int_equal(snapshot->copies[0].pid, -1);
	pt_free(pt);
}

TEST_MAIN(make_sysfs, remove_sysfs)
