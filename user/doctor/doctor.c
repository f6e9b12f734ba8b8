/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/doctor.h"

#include <stdbool.h>

#include "base/array.h"
#include "base/error.h"

int doctor_run(int (*fn)(void *ctx, const struct finding *finding), void *ctx, int *ret_works)
{
	const struct doctor_check *const groups[] = {doctor_trials, doctor_rights, doctor_settings};
	bool needed = true, source = false;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		for (const struct doctor_check *check = groups[i]; check->name && !err; check++) {
			struct finding finding = {.name = check->name, .state = FINDING_NOTE};

			fail_reset();
			check->run(&finding);
			needed &= check->part != DOCTOR_MAIN || finding.state != FINDING_FAILS;
			source |= check->part == DOCTOR_SOURCE && finding.state == FINDING_WORKS;
			err = fn(ctx, &finding);
		}
	}
	*ret_works = needed && source;
	return err;
}
