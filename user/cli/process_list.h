/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stddef.h>

struct process_list {
	char **lines; /* "[NUMBER] COMMAND LINE" */
	size_t cnt, cap;
};

/*
 * The processes that trailcam can attach to, without itself; *ret is zero before. 0, or -errno with a
 * sentence.
 */
int process_list_read(struct process_list *list);
void process_list_release(struct process_list *list);
