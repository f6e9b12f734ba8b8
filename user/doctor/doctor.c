/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/doctor.h"

#include "base/array.h"
#include "base/error.h"

int doctor_run(int (*fn)(void *ctx, const struct finding *finding), void *ctx, int *ret_works)
{
	const struct doctor_check *const groups[] = {doctor_trials, doctor_rights, doctor_settings};
	int works = 1, err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		for (const struct doctor_check *check = groups[i]; check->name && !err; check++) {
			struct finding finding = {.name = check->name, .state = FINDING_NOTE};

			fail_reset();
			check->run(&finding);
			if (check->part == DOCTOR_MAIN && finding.state == FINDING_FAILS)
				works = 0;
			err = fn(ctx, &finding);
		}
	}
	*ret_works = works;
	return err;
}
