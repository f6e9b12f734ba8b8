/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump --json: an object a line (https://jsonlines.org). The keys are listed in trailcam(1). Each reads the
 * recording at `path`, and returns 0, or -errno with a sentence.
 */
#pragma once

int dump_json_branches(const char *path);
int dump_json_slices(const char *path);
int dump_json_hits(const char *path);
