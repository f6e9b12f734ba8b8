/* SPDX-License-Identifier: BSD-2-Clause */
/* What of trailcam works on this machine, for this user, in this container: found out by trying. */
#pragma once

#include <stddef.h>

enum finding_state {
	FINDING_WORKS,
	FINDING_FAILS, /* and something would work if it did not */
	FINDING_NOTE,  /* neither good nor bad */
};

/* The names of the checks of sources, best first. */
#define DOCTOR_INTEL_PT "Intel PT"
#define DOCTOR_SAMPLES	"samples"
#define DOCTOR_STEPPING "single-stepping"

struct finding {
	const char *name;
	enum finding_state state;
	char detail[512]; /* what was seen */
	char remedy[512]; /* the one command that would change it; "" where there is none */
};

enum doctor_part { DOCTOR_MAIN, DOCTOR_SOURCE, DOCTOR_OTHER };

/*
 * One check. Leaves nothing behind. The finding's name is set; the state is FINDING_NOTE and the texts are
 * "".
 */
struct doctor_check {
	const char *name;
	enum doctor_part
		part; /* MAIN: the main job, a trigger with a source, needs it; SOURCE: one of them */
	void (*run)(struct finding *finding);
};

/* Ends with one that has no name. */
extern const struct doctor_check doctor_trials[];   /* doctor/trials.c: doing it */
extern const struct doctor_check doctor_settings[]; /* doctor/settings.c: what allows or forbids it */
extern const struct doctor_check doctor_rights[];   /* doctor/rights.c: capabilities */

/*
 * Runs all checks and calls fn with each finding. *ret_works: the main job works here. Stops at fn's first
 * non-zero return, which it returns.
 */
int doctor_run(int (*fn)(void *ctx, const struct finding *finding), void *ctx, int *ret_works);
