/* SPDX-License-Identifier: BSD-2-Clause */
/* What a probe costs on this machine, measured in this process. */
#pragma once

#include <stdbool.h>

struct probe_cost {
	double emulated_ns; /* a call of a function with a probe on an instruction that the kernel emulates */
	double stepped_ns;  /* ... that it single-steps */
};

/*
 * `prog_fd`: a BPF program for uprobes, which this runs some hundred times in this process; `by_perf`: it was
 * loaded for perf's uprobes, not for uprobe_multi links. 0, or a negative errno with a sentence.
 */
int probe_cost_measure(struct probe_cost *ret_cost, int prog_fd, bool by_perf);
