/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One attribute describes the PT event and serves sideband, too. With samples instead, each kind of sample
 * has an attribute (perf_data_samples.c). perf wants: the AUXTRACE feature, or it refuses addresses; an index
 * entry with the AUXTRACE record's own size; an id for the attribute; a reference that is not 0.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/sideband.h"
#include "recording/packer.h"
#include "recording/perf_data.h"
#include "recording/perf_sample.h"

struct file_attr {
	struct perf_event_attr attr;
	struct perf_section ids;
};

/* Sideband hangs off an event of its own where there is no trace. */
static void write_attr(FILE *file, const struct snapshot *snapshot, uint64_t ids_at)
{
	bool has_samples = snapshot->sample_cnt;
	struct file_attr attr = {
		.attr =
			{
				.type = has_samples ? PERF_TYPE_SOFTWARE : snapshot->params.pmu_type,
				.size = sizeof(attr.attr),
				.config = has_samples ? PERF_COUNT_SW_DUMMY : snapshot->params.config,
				.sample_period = 1,
				.sample_type = SIDEBAND_SAMPLE_TYPE,
				.sample_id_all = 1,
				.exclude_kernel = 1,
				.exclude_hv = 1,
				.mmap = 1,
				.mmap2 = 1,
				.comm = 1,
				.comm_exec = 1,
				.task = 1,
				.context_switch = 1,
			},
		.ids = {ids_at, sizeof(uint64_t)},
	};

	fwrite(&attr, sizeof(attr), 1, file);
	for (size_t i = 0; i < perf_samples_event_cnt(snapshot); i++) {
		perf_samples_attr(snapshot, i, &attr.attr);
		attr.ids.offset += sizeof(uint64_t);
		fwrite(&attr, sizeof(attr), 1, file);
	}
}

/* Their ids, then they. */
static void write_attrs(FILE *file, const struct snapshot *snapshot)
{
	for (uint64_t id = SIDEBAND_EVENT_ID; id <= SIDEBAND_EVENT_ID + perf_samples_event_cnt(snapshot);
	     id++)
		fwrite(&id, sizeof(id), 1, file);
	write_attr(file, snapshot, sizeof(struct perf_header));
}

static void write_info(FILE *file, const struct snapshot *snapshot)
{
	const struct trace_params *params = &snapshot->params;
	const struct trace_clock *clock = &snapshot->clock;
	static const uint8_t fill[8];
	size_t filter_size = snapshot->filter ? strlen(snapshot->filter) : 0;
	size_t padding = filter_size ? 8 - filter_size % 8 : 0;
	bool per_cpu = snapshot->aux_cnt && snapshot->aux[0].cpu >= 0;
	struct perf_auxtrace_info info = {
		.type = PERF_USER_AUXTRACE_INFO,
		.size = (uint16_t)(sizeof(info) + filter_size + padding),
		.auxtrace_type = PERF_AUXTRACE_INTEL_PT,
		.words =
			{
				[INFO_PMU_TYPE] = params->pmu_type,
				[INFO_TIME_SHIFT] = clock->shift,
				[INFO_TIME_MULT] = clock->mult,
				[INFO_TIME_ZERO] = clock->zero,
				[INFO_CAP_TIME_ZERO] = 1,
				[INFO_TSC_BIT] = TRACE_CONFIG_TSC,
				[INFO_NORETCOMP_BIT] = TRACE_CONFIG_NORETCOMP,
				[INFO_HAVE_SCHED_SWITCH] = per_cpu ? PERF_SWITCH_OF_TASKS : 0,
				[INFO_SNAPSHOT_MODE] = 1,
				[INFO_PER_CPU_MMAPS] = per_cpu,
				[INFO_MTC_BIT] = TRACE_CONFIG_MTC,
				[INFO_MTC_FREQ_BITS] = TRACE_CONFIG_MTC_MASK,
				[INFO_TSC_CTC_N] = params->tsc_ctc_ratio_n,
				[INFO_TSC_CTC_D] = params->tsc_ctc_ratio_d,
				[INFO_CYC_BIT] = TRACE_CONFIG_CYC,
				[INFO_MAX_NONTURBO_RATIO] = params->max_nonturbo_ratio,
				[INFO_FILTER_LENGTH] = filter_size,
			},
	};

	fwrite(&info, sizeof(info), 1, file);
	if (filter_size)
		fwrite(snapshot->filter, 1, filter_size, file);
	fwrite(fill, 1, padding, file);
}

/* A mapping that our own loader passes over. */
static int write_perf_only(FILE *file, int32_t pid, uint64_t time_ns, const struct sideband_mapping *mapping)
{
	struct snapshot only = {0};
	struct sideband_trailer *trailer;
	int err = sideband_add_mmap(&only, pid, pid, time_ns, mapping);

	if (err)
		return err;
	trailer = (struct sideband_trailer *)(only.sideband + only.sideband_size - sizeof(*trailer));
	trailer->reserved = PERF_ONLY_MARK;
	fwrite(only.sideband, 1, only.sideband_size, file);
	free(only.sideband);
	return 0;
}

static int write_copy_mapping(FILE *file, const struct code_copy *copy, uint64_t mapped_ns,
			      const char *directory)
{
	CLEANUP(freep) char *path = code_copy_path(copy, directory);
	const struct sideband_mapping mapping = {
		.addr = copy->addr, .size = copy->size, .file_offset = copy->file_offset, .name = path};

	if (!path)
		return -ENOMEM;
	return write_perf_only(file, copy->pid, copy->from_ns > mapped_ns ? copy->from_ns : mapped_ns,
			       &mapping);
}

static bool belongs_to(const struct code_copy *copy, const struct sideband_record *record)
{
	return record->type == PERF_RECORD_MMAP2 && record->pid == copy->pid &&
	       copy->addr - record->mapping.addr < record->mapping.size &&
	       !strcmp(copy->name, record->mapping.name);
}

/*
 * perf has a vDSO of its own; other copies are mapped over what they replace, for perf only, right after each
 * mapping that they belong to.
 */
static int write_copy_mappings(FILE *file, const struct snapshot *snapshot, const char *directory)
{
	struct sideband_record record;
	size_t pos = 0;
	int err = 0;

	while (!err && sideband_next(snapshot, &pos, &record) > 0)
		for (size_t i = 0; i < snapshot->copy_cnt && !err; i++)
			if (strcmp(snapshot->copies[i].name, "[vdso]") &&
			    belongs_to(&snapshot->copies[i], &record))
				err = write_copy_mapping(file, &snapshot->copies[i], record.time_ns + 1,
							 directory);
	return err;
}

/*
 * From copies of stacks perf unwinds through the tables of call frame information, which it reads where they
 * are mapped: behind the code, at the same distance from their place in the file.
 */
static int write_tables_mapping(FILE *file, const struct sideband_record *record, uint64_t time_ns)
{
	struct sideband_mapping mapping = record->mapping;
	struct stat st;

	if (mapping.name[0] != '/' || stat(mapping.name, &st) ||
	    (uint64_t)st.st_size <= mapping.file_offset + mapping.size)
		return 0;
	mapping.addr += mapping.size;
	mapping.file_offset += mapping.size;
	mapping.size = (uint64_t)st.st_size - mapping.file_offset;
	return write_perf_only(file, record->pid, time_ns, &mapping);
}

/*
 * Mappings that were noticed late, after samples of their code, are there for perf from the first sample on.
 */
static int write_early_mappings(FILE *file, const struct snapshot *snapshot)
{
	uint64_t first_ns = UINT64_MAX;
	struct sideband_record record;
	size_t pos = 0;
	int err = 0;

	for (size_t i = 0; i < snapshot->sample_cnt; i++)
		if (snapshot->samples[i].time_ns < first_ns)
			first_ns = snapshot->samples[i].time_ns;
	while (snapshot->sample_cnt && !err && sideband_next(snapshot, &pos, &record) > 0) {
		if (record.type != PERF_RECORD_MMAP2)
			continue;
		if (record.time_ns > first_ns)
			err = write_perf_only(file, record.pid, first_ns, &record.mapping);
		if (!err)
			err = write_tables_mapping(file, &record, first_ns);
	}
	return err;
}

/*
 * What perf wants to know before it looks into kcore_dir (tools/perf/util/synthetic-events.c,
 * perf_event__synthesize_kernel_mmap()).
 */
static void write_kernel_mapping(FILE *file, const struct snapshot *snapshot)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		char name[32];
		struct sideband_trailer trailer;
	} record = {.header = {PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, sizeof(record)},
		    .pid = UINT32_MAX,
		    .name = "[kernel.kallsyms]_stext",
		    .trailer = {.id = SIDEBAND_EVENT_ID, .reserved = PERF_ONLY_MARK}};

	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		const struct code_copy *copy = &snapshot->copies[i];

		if (!code_copy_is_kernel(copy) || strcmp(copy->name, KERNEL_CODE))
			continue;
		record.addr = record.pgoff = copy->addr;
		record.len = copy->size;
		fwrite(&record, sizeof(record), 1, file);
		return;
	}
}

static void write_aux(FILE *file, const struct snapshot *snapshot, uint64_t *index)
{
	static const uint8_t pad[8];

	for (size_t i = 0; i < snapshot->aux_cnt; i++) {
		const struct aux_trace *aux = &snapshot->aux[i];
		size_t fill = -aux->size & 7;
		struct perf_auxtrace record = {
			.type = PERF_USER_AUXTRACE,
			.size = sizeof(record),
			.bytes = aux->size + fill,
			.offset = aux->offset,
			.reference = aux->ref_tsc ? aux->ref_tsc : 1,
			.idx = (uint32_t)i,
			.tid = (uint32_t)aux->tid,
			.cpu = (uint32_t)aux->cpu,
		};

		index[2 * i] = (uint64_t)ftello(file);
		index[2 * i + 1] = sizeof(record);
		fwrite(&record, sizeof(record), 1, file);
		fwrite(aux->bytes, 1, aux->size, file);
		fwrite(pad, 1, fill, file);
	}
}

/* tools/perf/util/build-id.c, write_buildid(): names are filled up to 64 bytes. */
static int write_build_ids(FILE *file, const struct snapshot *snapshot, const uint64_t *index)
{
	static const char fill[64];

	(void)index;
	for (size_t i = 0; i < snapshot->build_id_cnt; i++) {
		const struct named_build_id *named = &snapshot->build_ids[i];
		size_t len = strlen(named->name), padded = (len + sizeof(fill)) & ~(sizeof(fill) - 1);
		struct perf_build_id head = {
			.type = PERF_USER_BUILD_ID,
			.misc = PERF_BUILD_ID_SIZED | PERF_RECORD_MISC_USER,
			.size = (uint16_t)(sizeof(head) + padded),
			.pid = -1,
			.id_size = named->id.size,
		};

		if (sizeof(head) + padded > UINT16_MAX)
			continue;
		memcpy(head.id, named->id.bytes, named->id.size);
		fwrite(&head, sizeof(head), 1, file);
		fwrite(named->name, 1, len, file);
		fwrite(fill, 1, padded - len, file);
	}
	return 0;
}

/* tools/perf/util/header.c, do_write_string() */
static void write_string(FILE *file, const char *text)
{
	enum { ALIGN = 64 };
	static const char fill[ALIGN];
	size_t len = strlen(text);
	uint32_t padded = (uint32_t)((len + ALIGN) & ~(ALIGN - 1ull));

	fwrite(&padded, sizeof(padded), 1, file);
	fwrite(text, 1, len, file);
	fwrite(fill, 1, padded - len, file);
}

/* What the events are called; nothing where there is a trace. */
static int write_event_names(FILE *file, const struct snapshot *snapshot, const uint64_t *index)
{
	size_t event_cnt = perf_samples_event_cnt(snapshot);
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};
	const uint32_t head[2] = {(uint32_t)event_cnt + 1, sizeof(attr)}, id_cnt = 1;

	(void)index;
	fwrite(head, sizeof(head), 1, file);
	for (uint64_t i = 0; i <= event_cnt; i++) {
		const uint64_t id = SIDEBAND_EVENT_ID + i;

		if (i)
			perf_samples_attr(snapshot, i - 1, &attr);
		fwrite(&attr, sizeof(attr), 1, file);
		fwrite(&id_cnt, sizeof(id_cnt), 1, file);
		write_string(file, i ? perf_samples_event_name(snapshot, i - 1) : "dummy");
		fwrite(&id, sizeof(id), 1, file);
	}
	return 0;
}

static int write_aux_index(FILE *file, const struct snapshot *snapshot, const uint64_t *index)
{
	uint64_t cnt = snapshot->aux_cnt;

	fwrite(&cnt, sizeof(cnt), 1, file);
	fwrite(index, 16, cnt, file);
	return 0;
}

/* How the samples are packed (tools/perf/util/header.c, process_compressed()). */
static int write_packing(FILE *file, const struct snapshot *snapshot, const uint64_t *index)
{
	const struct {
		uint32_t version, type /* zstd */, level, ratio, piece_bytes;
	} packing = {.type = 1, .piece_bytes = PACKER_PIECE};

	(void)snapshot;
	(void)index;
	fwrite(&packing, sizeof(packing), 1, file);
	return 0;
}

static int write_own(FILE *file, const struct snapshot *snapshot, const uint64_t *index)
{
	CLEANUP(freep) uint8_t *section = NULL;
	size_t size;
	int err = trailcam_section_write(snapshot, &section, &size);

	(void)index;
	if (!err)
		fwrite(section, 1, size, file);
	return err;
}

/* The sections behind the data, in the order of their bits. */
static const struct feature {
	enum perf_feature bit;
	int (*write)(FILE *file, const struct snapshot *snapshot, const uint64_t *index);
	bool of_trace, of_samples; /* where there is one or the other */
} features[] = {
	{PERF_FEATURE_BUILD_ID, write_build_ids, true, true},
	{PERF_FEATURE_EVENT_DESC, write_event_names, false, true},
	{PERF_FEATURE_AUXTRACE, write_aux_index, true, false},
	{PERF_FEATURE_COMPRESSED, write_packing, false, true},
	{PERF_FEATURE_TRAILCAM, write_own, true, true},
};

static bool has_feature(const struct snapshot *snapshot, const struct feature *feature)
{
	return snapshot->sample_cnt ? feature->of_samples : feature->of_trace;
}

/* A table of them, then they. */
static int write_features(FILE *file, const struct snapshot *snapshot, const uint64_t *index)
{
	struct perf_section table[ARRAY_SIZE(features)] = {0};
	uint64_t table_at = (uint64_t)ftello(file);
	size_t cnt = 0;

	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		cnt += has_feature(snapshot, &features[i]);
	fwrite(table, sizeof(table[0]), cnt, file);
	cnt = 0;
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		uint64_t at = (uint64_t)ftello(file);
		int err;

		if (!has_feature(snapshot, &features[i]))
			continue;
		err = features[i].write(file, snapshot, index);
		if (err)
			return err;
		table[cnt++] = (struct perf_section){at, (uint64_t)ftello(file) - at};
	}
	if (fseeko(file, (off_t)table_at, SEEK_SET))
		return -errno;
	fwrite(table, sizeof(table[0]), cnt, file);
	return 0;
}

static void set_features(struct perf_header *header, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (has_feature(snapshot, &features[i]))
			header->features[features[i].bit / 64] |= 1ull << features[i].bit % 64;
}

static int write_data(FILE *file, const struct snapshot *snapshot, const char *directory, uint64_t *index)
{
	size_t attr_cnt = 1 + perf_samples_event_cnt(snapshot);
	struct perf_header header = {
		.magic = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'},
		.size = sizeof(header),
		.attr_size = sizeof(struct file_attr),
		.attrs = {sizeof(header) + attr_cnt * sizeof(uint64_t), attr_cnt * sizeof(struct file_attr)},
	};
	int err;

	header.data.offset = header.attrs.offset + header.attrs.size;
	set_features(&header, snapshot);
	fwrite(&header, sizeof(header), 1, file);
	write_attrs(file, snapshot);
	if (!snapshot->sample_cnt)
		write_info(file, snapshot);
	write_kernel_mapping(file, snapshot);
	if (snapshot->sideband_size)
		fwrite(snapshot->sideband, 1, snapshot->sideband_size, file);
	err = write_copy_mappings(file, snapshot, directory);
	if (!err)
		err = write_early_mappings(file, snapshot);
	if (err)
		return err;
	write_aux(file, snapshot, index);
	err = perf_samples_write(snapshot, file);
	if (err)
		return err;
	header.data.size = (uint64_t)ftello(file) - header.data.offset;
	err = write_features(file, snapshot, index);
	if (err)
		return err;
	if (fseeko(file, 0, SEEK_SET))
		return -errno;
	fwrite(&header, sizeof(header), 1, file);
	return 0;
}

int perf_data_write(const struct snapshot *snapshot, FILE *file, const char *directory)
{
	CLEANUP(freep) uint64_t *index = calloc(2 * snapshot->aux_cnt + 1, sizeof(*index));
	int err = index ? write_data(file, snapshot, directory, index) : -ENOMEM;

	errno = 0;
	if (!err && (fflush(file) || ferror(file)))
		err = errno ? -errno : -EIO;
	return err;
}
