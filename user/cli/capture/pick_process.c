/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/capture/pick_process.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/capture/pick.h"
#include "cli/process_list.h"

int pick_process(pid_t *ret_pid)
{
	CLEANUP(process_list_release) struct process_list list = {0};
	size_t choice;
	int err = process_list_read(&list);

	if (!err)
		err = pick("process", list.lines, list.cnt, &choice);
	if (err)
		return err;
	*ret_pid = atoi(list.lines[choice] + 1);
	return 0;
}
