/* SPDX-License-Identifier: BSD-2-Clause */
#include "history/uprobe_code.h"

#include <stdbool.h>

struct hider {
	const struct history_process *process;
	struct branch *branches;
	size_t kept;
	bool inside;
	bool has_entry; /* the last one kept led there */
};

static void enter(struct hider *hider, const struct branch *branch)
{
	hider->inside = true;
	hider->has_entry = !(branch->flags & BRANCH_TRACE_START);
	if (hider->has_entry)
		hider->branches[hider->kept++] = *branch;
}

/* `branch` leads out: for one that led in, it says where to. */
static void go_out(struct hider *hider, const struct branch *branch)
{
	struct branch *entry = &hider->branches[hider->kept - 1];

	hider->inside = false;
	if (!hider->has_entry)
		hider->branches[hider->kept++] = *branch;
	else if (entry->kind == BRANCH_CALL)
		hider->kept--;
	else
		entry->to = branch->to;
}

static void hide(struct hider *hider, const struct branch *branch)
{
	bool to = history_is_uprobe_code(hider->process, branch->to);
	bool from = history_is_uprobe_code(hider->process, branch->from);

	if (branch->kind == BRANCH_EVENT) {
		hider->branches[hider->kept++] = *branch;
	} else if (branch->kind == BRANCH_GAP) {
		hider->inside = false;
		hider->branches[hider->kept++] = *branch;
	} else if (!hider->inside && to) {
		enter(hider, branch);
	} else if (!hider->inside && !from) {
		hider->branches[hider->kept++] = *branch;
	} else if (hider->inside && branch->to && !to) {
		go_out(hider, branch);
	}
	/* else it is within, or the end of one that began in another piece */
}

size_t uprobe_code_hide(const struct history_process *process, struct branch *branches, size_t cnt)
{
	struct hider hider = {.process = process, .branches = branches};

	if (!process || !process->uprobe_cnt)
		return cnt;
	for (size_t i = 0; i < cnt; i++) {
		const struct branch branch = branches[i];

		hide(&hider, &branch);
	}
	return hider.kept;
}
