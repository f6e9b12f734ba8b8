/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "bpf/alloc_probe.h"

int print_failure(int err, int status)
{
	log_fail(err);
	return status;
}

int end_output(int err)
{
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = fail_errno(-errno, "cannot write to standard output");
	return err ? print_failure(err, STATUS_FAILED) : STATUS_OK;
}

void first_failure_note(struct first_failure *first, int err)
{
	if (err && first->err)
		print_failure(err, STATUS_FAILED);
	else if (err) {
		first->err = err;
		first->sentence = strdup(fail_message(err));
	}
	fail_reset();
}

int first_failure_end(struct first_failure *first)
{
	CLEANUP(freep) char *sentence = first->sentence;

	return first->err ? fail(first->err, "%s", sentence ? sentence : strerror(-first->err)) : 0;
}

int parse_count(const char *option, const char *text, uint64_t *ret_cnt)
{
	char *end;
	unsigned long long cnt;

	errno = 0;
	cnt = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno)
		return fail(-EINVAL, "%s takes a whole number, not '%s'", option, text);
	*ret_cnt = cnt;
	return 0;
}

int parse_pid(const char *text, pid_t *ret_pid)
{
	uint64_t pid;
	int err = parse_count("--pid", text, &pid);

	if (!err && (!pid || pid > INT32_MAX))
		err = fail(-EINVAL, "--pid: '%s' is not a process number", text);
	if (!err)
		*ret_pid = (pid_t)pid;
	return err;
}

int parse_duration(const char *option, const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *unit;
	double number = strtod(text, &unit);

	for (size_t i = 0; i < ARRAY_SIZE(units) && isdigit((unsigned char)text[0]); i++) {
		if (strcmp(unit, units[i].name) || !(number * units[i].ns >= 1) ||
		    number * units[i].ns > 1e18)
			continue;
		*ret_ns = (uint64_t)(number * units[i].ns);
		return 0;
	}
	return fail(-EINVAL, "%s: '%s' is not a time: give a number with ns, us, ms or s, such as 5ms",
		    option, text);
}

int parse_size(const char *text, size_t *ret_size)
{
	static const char units[] = "kMGT";
	unsigned long long size;
	const char *unit;
	unsigned int shift = 0;
	char *end;

	errno = 0;
	size = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end == 'K' ? 'k' : *end == 'm' ? 'M' : *end == 'g' ? 'G' : *end) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}
	if (!isdigit((unsigned char)text[0]) || *end || errno || size > (SIZE_MAX >> shift))
		return fail(-EINVAL, "'%s' is not a size: give bytes, or a number with k, M or G", text);
	*ret_size = (size_t)size << shift;
	return 0;
}

int parse_alloc_interval(const char *option, const char *text, uint64_t *ret_bytes)
{
	enum { INTERVAL_MIN = 64 };
	size_t bytes;
	int err = parse_size(text, &bytes);

	if (err)
		return fail_prefix(err, "%s", option);
	if (bytes != 1 && (bytes < INTERVAL_MIN || bytes > ALLOC_INTERVAL_MAX))
		return fail(-EINVAL, "%s: give 1 (every allocation), or a size from %d bytes to 1G", option,
			    INTERVAL_MIN);
	*ret_bytes = bytes;
	return 0;
}

int parse_choice(const char *option, const char *text, const char *const names[], size_t cnt, int *ret_choice)
{
	char list[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (!strcmp(text, names[i])) {
			*ret_choice = (int)i;
			return 0;
		}
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
						names[i]);
	}
	return fail(-EINVAL, "%s: '%s' is none of %s", option, text, list);
}

/* ---- -v and -q ---- */

static const struct argp_option talk_options[] = {
	{"verbose", 'v', NULL, 0, "Say what trailcam is doing", 40},
	{"quiet", 'q', NULL, 0, "Print only warnings and failures, and no progress", 40},
	{0},
};

static error_t talk(int key, char *arg, struct argp_state *state)
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

const struct argp talk_argp = {.options = talk_options, .parser = talk};

void show_progress(void *ctx, size_t done_bytes, size_t total_bytes)
{
	double took, rate;

	(void)ctx;
	if (done_bytes >= total_bytes) {
		progress_end();
		return;
	}
	if (!progress_is_due())
		return;
	took = progress_seconds();
	rate = took > 0 ? (double)done_bytes / took : 0;
	progress_tell("decoding: %zu %%, %.1f MB/s, %.0f s left", done_bytes * 100 / total_bytes, rate / 1e6,
		      rate > 0 ? (double)(total_bytes - done_bytes) / rate : 0);
}
