/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * magic-trace has long flags with one dash. Here, "-trigger main" would mean the trigger "rigger" and a
 * program "main". So such flags are refused, with a hint. docs/magic-trace.md has the same table in more
 * detail.
 */
#include "cli/magic_trace.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

static const struct {
	const char *flag, *ours;
} flags[] = {
	{"-trigger", "use --trigger=SYM or -t SYM"},
	{"-pid", "use --pid=PID or -p PID"},
	{"-output", "use --output=FILE or -o FILE"},
	{"-multi-snapshot", "use --multi-snapshot"},
	{"-multi-thread", "leave it out: all threads are traced"},
	{"-full-execution", "use --full-execution"},
	{"-snapshot-size", "use --snapshot-size=SIZE"},
	{"-trace-include-kernel", "use --kernel"},
	{"-trace-kernel-only", "use --kernel=only"},
	{"-timer-resolution", "use --timer-resolution=low|normal|high|custom:..."},
	{"-filter", "use --from=START --to=STOP of trailcam decode"},
	{"-duration-thresh", "use --slower-than=TIME"},
	{"-delay-thresh", "use --slower-than=TIME"},
	{"-immediate-stop", "use --freeze"},
	{"-working-directory", "use --keep-recording=DIR, and later trailcam decode DIR"},
	{"-executable",
	 "leave it out: a recording names its programs, and --symfs=DIR says where else they are"},
	{"-perf-map-file", "leave it out: a recording has the names of the code that was compiled in it"},
	{"-sampling", "use perf record, and trailcam decode for the text of perf script"},
	{"-callgraph-mode", "use perf record, and trailcam decode for the text of perf script"},
	{"-events", "use perf record, and trailcam decode for the text of perf script"},
	{"-help", "use --help"},
};

const char *magic_trace_ours(const char *flag)
{
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (!strcmp(flag, flags[i].flag))
			return flags[i].ours;
	return NULL;
}
