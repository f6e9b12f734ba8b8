/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/talk.h"

#include "base/log.h"
#include "base/progress.h"

static const struct argp_option table[] = {
	{"verbose", 'v', NULL, 0, "Say what trailcam is doing", 40},
	{"quiet", 'q', NULL, 0, "Print only warnings and failures, and no progress", 40},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	(void)state;
	switch (key) {
	case 'v':
		log_set_verbose(true);
		return 0;
	case 'q':
		log_set_quiet(true);
		progress_set_quiet();
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp talk_argp = {.options = table, .parser = parse};
