/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Node: `node --help`, V8's own. A JVM whose code cannot be read (source/jvm_code.h):
 * Compiler.perfmap is since
 * JDK 17; without frame pointers, its stacks cannot be walked either.
 */
#include "rebuild/unnamed.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/file/path.h"
#include "base/log.h"

static const char node_remedy[] = "start it with --perf-basic-prof, and for those that are interpreted with "
				  "--interpreted-frames-native-stack";

/* The file that it is in, without its version; how it tells names. */
static const struct jit {
	const char *file, *name, *remedy;
} jits[] = {
	{"node", "node", node_remedy},
	{"libnode.so", "node", node_remedy},
	{"libjvm.so", "java",
	 "start it with -XX:+PreserveFramePointer, and run \"jcmd PID Compiler.perfmap\" before the hit"},
};

static const struct jit *jit_of(const struct image_section *section)
{
	const char *name = path_name(section->object);

	for (size_t i = 0; i < ARRAY_SIZE(jits); i++) {
		size_t len = strlen(jits[i].file);

		if (!strncmp(name, jits[i].file, len) && (!name[len] || name[len] == '.'))
			return &jits[i];
	}
	return NULL;
}

static const struct jit *jit_in(const struct image *image)
{
	IMAGE_FOR_EACH_SECTION (section, image, image_version_cnt(image) - 1) {
		const struct jit *jit = jit_of(section);

		if (jit)
			return jit;
	}
	return NULL;
}

void unnamed_warn(const struct history *history)
{
	for (size_t i = 0; i < history->process_cnt; i++) {
		const struct history_process *process = &history->processes[i];
		const struct jit *jit = image_lacks_names(process->image) ? jit_in(process->image) : NULL;

		if (!jit)
			continue;
		log_warn("process %" PRId32
			 " (%s) has functions that it made itself, which are shown without their names: %s",
			 process->pid, jit->name, jit->remedy);
		return;
	}
}
