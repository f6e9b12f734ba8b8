/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out which features of trailcam work on this machine, for this user, in this container, by trying
 * them.
 */
#pragma once

#include <stddef.h>

enum finding_state {
	FINDING_WORKS,
	FINDING_FAILS, /* a feature needs it */
	FINDING_NOTE,  /* information only */
};

/* The names of the checks of sources, best first. */
#define DOCTOR_INTEL_PT	 "Intel PT"
#define DOCTOR_SAMPLES	 "samples"
#define DOCTOR_TRANSLATE "translation"
#define DOCTOR_STEPPING	 "single-stepping"

struct finding {
	const char *name;
	enum finding_state state;
	char detail[512]; /* the observation */
	char remedy[512]; /* one command that would change it; "": none */
};

enum doctor_part { DOCTOR_MAIN, DOCTOR_SOURCE, DOCTOR_OTHER };

/* One check; leaves nothing behind. run() gets a finding with its name, FINDING_NOTE and "" as texts. */
struct doctor_check {
	const char *name;
	enum doctor_part
		part; /* MAIN: the main job, a trigger with a source, needs it; SOURCE: one of them */
	void (*run)(struct finding *finding);
};

/* Each table ends with an entry without a name. */
extern const struct doctor_check doctor_trials[];   /* doctor/trials.c: trying features */
extern const struct doctor_check doctor_settings[]; /* doctor/settings.c: system settings */
extern const struct doctor_check doctor_rights[];   /* doctor/rights.c: capabilities */

/*
 * Runs all checks and calls fn with each finding. *ret_works: the main job works here. Stops at the first
 * non-zero return of fn and returns it.
 */
int doctor_run(int (*fn)(void *ctx, const struct finding *finding), void *ctx, int *ret_works);
