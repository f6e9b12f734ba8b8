/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "bpf/alloc_probe.h"

#define PROGRESS_SECONDS 0.1 /* between two looks at it */

int report(int err, int status)
{
	log_fail(err);
	return status;
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
	char list[128] = "";

	for (size_t i = 0; i < cnt; i++) {
		if (!strcmp(text, names[i])) {
			*ret_choice = (int)i;
			return 0;
		}
		strcat(strcat(list, i ? ", " : ""), names[i]);
	}
	return fail(-EINVAL, "%s: '%s' is none of %s", option, text, list);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void show_progress(void *ctx, size_t done_bytes, size_t total_bytes)
{
	static double began, told;
	static size_t before;
	double now = seconds(), rate;
	char line[96];
	int len;
	ssize_t written;

	(void)ctx;
	if (!isatty(STDERR_FILENO) || !total_bytes)
		return;
	if (done_bytes <= before || !began)
		began = now; /* another trace */
	before = done_bytes;
	if (done_bytes < total_bytes && now - told < PROGRESS_SECONDS)
		return;
	told = now;
	rate = now > began ? (double)done_bytes / (now - began) : 0;
	len = snprintf(line, sizeof(line), "\r\033[Kdecoding: %zu %%", done_bytes * 100 / total_bytes);
	if (rate > 0)
		len += snprintf(line + len, sizeof(line) - (size_t)len, ", %.1f MB/s, %.0f s left",
				rate / 1e6, (double)(total_bytes - done_bytes) / rate);
	if (done_bytes >= total_bytes)
		len = snprintf(line, sizeof(line), "\r\033[K");
	written = write(STDERR_FILENO, line, (size_t)len);
	(void)written;
}
