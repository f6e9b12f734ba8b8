/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int snapshot_new(struct snapshot **ret_snapshot)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		return -ENOMEM;
	*ret_snapshot = snapshot;
	return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (size_t i = 0; i < snapshot->aux_cnt; i++)
		free(snapshot->aux[i].bytes);
	for (size_t i = 0; i < snapshot->trigger_cnt; i++)
		free(snapshot->triggers[i]);
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		free(snapshot->copies[i].name);
		free(snapshot->copies[i].bytes);
		free(snapshot->copies[i].path);
	}
	free(snapshot->source);
	free(snapshot->stopped_by);
	free(snapshot->command);
	free(snapshot->aux);
	free(snapshot->sideband);
	free(snapshot->hits);
	free(snapshot->triggers);
	free(snapshot->copies);
	free(snapshot);
}

struct aux_trace *snapshot_add_aux(struct snapshot *snapshot)
{
	struct aux_trace empty = {.cpu = -1};

	if (ARRAY_PUSH(snapshot->aux, snapshot->aux_cnt, snapshot->aux_cap, empty))
		return NULL;
	return &snapshot->aux[snapshot->aux_cnt - 1];
}

struct code_copy *snapshot_add_copy(struct snapshot *snapshot)
{
	struct code_copy empty = {0};

	if (ARRAY_PUSH(snapshot->copies, snapshot->copy_cnt, snapshot->copy_cap, empty))
		return NULL;
	return &snapshot->copies[snapshot->copy_cnt - 1];
}
