/* SPDX-License-Identifier: BSD-2-Clause */
/* What the runtime has told of mappings and code goes between what the session knows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "model/sideband.h"
#include "source/translate/translate_internal.h"

static int take_copies(struct snapshot *from, struct snapshot *to)
{
	int err =
		array_reserve(&to->copies, &to->copy_cap, to->copy_cnt + from->copy_cnt, sizeof(*to->copies));

	if (err)
		return err;
	for (size_t i = 0; i < from->copy_cnt; i++)
		to->copies[to->copy_cnt++] = from->copies[i];
	from->copy_cnt = 0;
	return 0;
}

static int take_gap_reasons(struct snapshot *from, struct snapshot *to)
{
	int err = array_reserve(&to->gap_reasons, &to->gap_reason_cap,
				to->gap_reason_cnt + from->gap_reason_cnt, sizeof(*to->gap_reasons));

	if (err)
		return err;
	for (size_t i = 0; i < from->gap_reason_cnt; i++)
		to->gap_reasons[to->gap_reason_cnt++] = from->gap_reasons[i];
	from->gap_reason_cnt = 0;
	return 0;
}

/* Its own sideband goes between that of the session, in order of time. */
static int merge_sideband(const struct translate *translate, struct snapshot *snapshot)
{
	const struct snapshot *own = translate->sideband;
	size_t total = own->sideband_size + snapshot->sideband_size, size = 0;
	size_t pos[2] = {0}, from[2] = {0};
	const struct snapshot *both[2] = {snapshot, own};
	struct sideband_record records[2];
	bool there[2];
	uint8_t *bytes = own->sideband_size ? malloc(total) : NULL;

	if (!own->sideband_size)
		return 0;
	if (!bytes)
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		there[i] = sideband_next(both[i], &pos[i], &records[i]) > 0;
	while (there[0] || there[1]) {
		int i = !there[0] || (there[1] && records[1].time_ns < records[0].time_ns);

		memcpy(bytes + size, both[i]->sideband + from[i], pos[i] - from[i]);
		size += pos[i] - from[i];
		from[i] = pos[i];
		there[i] = sideband_next(both[i], &pos[i], &records[i]) > 0;
	}
	free(snapshot->sideband);
	snapshot->sideband = bytes;
	snapshot->sideband_size = size;
	snapshot->sideband_cap = total;
	return 0;
}

int translate_describe(struct translate *translate, struct snapshot *snapshot)
{
	int err = translate_settle(translate);

	if (translate->forgotten_cnt)
		log_warn("%llu threads ended so long before the end that their calls are not kept",
			 (unsigned long long)translate->forgotten_cnt);
	if (!err)
		err = take_copies(translate->sideband, snapshot);
	if (!err)
		err = take_gap_reasons(translate->sideband, snapshot);
	for (size_t i = 0; i < translate->process_cnt && !err; i++)
		if (translate->processes[i]->answers)
			err = answers_add_code(translate->processes[i]->answers, &translate->clock, snapshot);
	snapshot->params = translate->params;
	return err ? err : merge_sideband(translate, snapshot);
}
