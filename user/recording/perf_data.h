/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.data as perf 4.x to 6.x write and read it (tools/perf/Documentation/perf.data-file-format.txt,
 * tools/perf/util/header.h, auxtrace.h, intel-pt.h):
 *
 *	header (104 bytes) | ids | attributes | data | feature table | feature sections
 *
 *	data:	AUXTRACE_INFO  sideband...  (AUXTRACE bytes)...
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "model/snapshot.h"

struct perf_section {
	uint64_t offset, size;
};

struct perf_header {
	char magic[8]; /* "PERFILE2" */
	uint64_t size;
	uint64_t attr_size; /* of perf_event_attr with the section of its ids */
	struct perf_section attrs, data, event_types;
	uint64_t features[4]; /* a bit each */
};

_Static_assert(sizeof(struct perf_header) == 104, "as perf lays it out");

/* A file written to a pipe has only magic and size. */
enum { PIPE_HEADER_BYTES = 16 };

enum perf_feature {
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_ARCH = 6,
	PERF_FEATURE_CPUID = 9,
	PERF_FEATURE_CMDLINE = 11,
	PERF_FEATURE_EVENT_DESC = 12,
	PERF_FEATURE_AUXTRACE = 18,
	PERF_FEATURE_COMPRESSED = 27,
	PERF_FEATURE_TRAILCAM = 200,
};

enum perf_user_record {
	PERF_USER_HEADER_ATTR = 64,
	PERF_USER_BUILD_ID = 67,
	PERF_USER_AUXTRACE_INFO = 70,
	PERF_USER_AUXTRACE = 71,
	PERF_USER_HEADER_FEATURE = 80,
	PERF_USER_COMPRESSED = 81,
	PERF_USER_COMPRESSED2 = 83,
};

/* The path of a copy's file in the recording's directory; the caller frees it. NULL: out of memory. */
char *code_copy_path(const struct code_copy *copy, const char *dir);

enum { PERF_AUXTRACE_INTEL_PT = 1 };

/* Words of AUXTRACE_INFO for Intel PT (tools/perf/arch/x86/util/intel-pt.c, intel_pt_info_fill()). */
enum perf_intel_pt_info {
	INFO_PMU_TYPE,
	INFO_TIME_SHIFT,
	INFO_TIME_MULT,
	INFO_TIME_ZERO,
	INFO_CAP_TIME_ZERO,
	INFO_TSC_BIT,
	INFO_NORETCOMP_BIT,
	INFO_HAVE_SCHED_SWITCH,
	INFO_SNAPSHOT_MODE,
	INFO_PER_CPU_MMAPS,
	INFO_MTC_BIT,
	INFO_MTC_FREQ_BITS,
	INFO_TSC_CTC_N,
	INFO_TSC_CTC_D,
	INFO_CYC_BIT,
	INFO_MAX_NONTURBO_RATIO,
	/* length of the text of address filters after the words, padded with at least one 0 */
	INFO_FILTER_LENGTH,
	INFO_CNT,
};

struct perf_auxtrace_info {
	uint32_t type;
	uint16_t misc, size;
	uint32_t auxtrace_type, reserved;
	uint64_t words[INFO_CNT];
};

struct perf_auxtrace {
	uint32_t type;
	uint16_t misc, size;
	uint64_t bytes; /* bytes that follow, a multiple of 8 */
	uint64_t offset, reference;
	uint32_t idx, tid, cpu, reserved;
};

_Static_assert(sizeof(struct perf_auxtrace) == 48, "as perf lays it out");

/* An entry of the build-id feature; the file's name follows it. */
struct perf_build_id {
	uint32_t type;
	uint16_t misc, size;
	int32_t pid;
	uint8_t id[20];
	uint8_t id_size, reserved[3]; /* valid with PERF_BUILD_ID_SIZED, since Linux 5.12; else 20 */
};

_Static_assert(sizeof(struct perf_build_id) == 36, "as perf lays it out");

enum { PERF_BUILD_ID_SIZED = 1 << 15 };

/* INFO_HAVE_SCHED_SWITCH: PERF_RECORD_SWITCH of the traced threads. */
enum { PERF_SWITCH_OF_TASKS = 2 };

/* AUX data is padded to a multiple of 8 with PAD packets. */

/*
 * Marks records that are for perf only, in the reserved word after `cpu` of their trailer: our loader drops
 * them. Such a mapping leads perf to a code copy by its path in the recording.
 */
enum { PERF_ONLY_MARK = 0x7c };

/*
 * Writes the file. `directory` is the recording's final path, where code copies will be. 0, or a negative
 * errno without a sentence.
 */
int perf_data_write(const struct snapshot *snapshot, FILE *file, const char *directory);

/* Whether perf_data_write() wrote the file: it has our section. */
bool perf_data_is_ours(int fd);

/*
 * Parses the `size` bytes of a file. Errors as recording_load(), without the file's name. AUX traces are
 * copied unless they are in snapshot->file.
 */
int perf_data_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size);

/*
 * Our own feature section, for what perf has no place for. The caller frees *ret_bytes. Read errors as
 * recording_load().
 */
int trailcam_section_write(const struct snapshot *snapshot, uint8_t **ret_bytes, size_t *ret_size);
bool trailcam_section_is(const uint8_t *bytes, size_t size);
int trailcam_section_read(struct snapshot *snapshot, const uint8_t *bytes, size_t size);
