/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the targets' code is, for the BPF programs: of a stack they keep what leads there
 * (bpf/samples_code.bpf.h).
 */
#pragma once

#include <sys/types.h>

struct samples_bpf;

/* Before the programs are loaded: which of them tell of new mappings. */
void samples_code_set_up(struct samples_bpf *bpf);

/* After that: attaches these, if they can be. The links are the skeleton's. */
void samples_code_attach(struct samples_bpf *bpf);

/*
 * What the process has mapped before it became a target: to be called when it is one. What it
 * maps from then on the kernel tells. Of a JVM's stacks, and where it cannot be read, all words
 * are kept that may be addresses.
 */
void samples_code_find(struct samples_bpf *bpf, pid_t pid);
