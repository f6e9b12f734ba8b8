/* SPDX-License-Identifier: BSD-2-Clause */
/* What the runtime has told of mappings and code goes between what the session knows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "model/sideband.h"
#include "source/translate/translate_internal.h"

/* Moves all items, of `size` bytes, to the end of the other array. 0 or -ENOMEM. */
static int move_items(void *to_items, size_t *to_cnt, size_t *to_cap, const void *from, size_t *from_cnt,
		      size_t size)
{
	int err = array_reserve(to_items, to_cap, *to_cnt + *from_cnt, size);

	if (err || !*from_cnt)
		return err;
	memcpy(*(uint8_t **)to_items + *to_cnt * size, from, *from_cnt * size);
	*to_cnt += *from_cnt;
	*from_cnt = 0;
	return 0;
}

static int move_to(struct snapshot *from, struct snapshot *to)
{
	int err = move_items(&to->copies, &to->copy_cnt, &to->copy_cap, from->copies, &from->copy_cnt,
			     sizeof(*to->copies));

	return err ? err
		   : move_items(&to->gap_reasons, &to->gap_reason_cnt, &to->gap_reason_cap, from->gap_reasons,
				&from->gap_reason_cnt, sizeof(*to->gap_reasons));
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
		err = move_to(translate->sideband, snapshot);
	for (size_t i = 0; i < translate->process_cnt && !err; i++)
		if (translate->processes[i]->answers)
			err = answers_add_code(translate->processes[i]->answers, &translate->clock, snapshot);
	snapshot->params = translate->params;
	return err ? err : merge_sideband(translate, snapshot);
}
