/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defaults: MTC at perf's period (3), or the next one supported; with cycle packets, which time every branch,
 * MTC at period 0 to calibrate them often. PSB period 3: decoding can start every 16 KiB.
 */
#include "source/pt/pt_caps.h"

#include <cpuid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file/reading.h"

enum { PERIOD_DEFAULT = 3, VALUE_MAX = 15, PSB_SHIFT = 11, PSBS_MIN = 8 };

/* The file's text; "" where there is none. */
static void read_text(const char *dir, const char *name, char *ret_text, size_t size)
{
	CLEANUP(freep) char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		path = NULL;
	if (!path || !reading_text(path, ret_text, size))
		ret_text[0] = 0;
}

static uint32_t read_number(const char *dir, const char *name, int base)
{
	char text[32];

	read_text(dir, name, text, sizeof(text));
	return (uint32_t)strtoul(text, NULL, base);
}

bool pt_is_here(const char *dir)
{
	struct stat st;

	return !stat(dir, &st);
}

int pt_caps_read(struct pt_caps *ret_caps, const char *dir)
{
	char text[32];

	if (!pt_is_here(dir))
		return fail(
			-ENOTSUP,
			"this machine has no Intel PT (%s is missing: another processor, a virtual "
			"machine, or the kernel lacks the driver); use --source translate, samples or none",
			dir);
	*ret_caps = (struct pt_caps){
		.type = read_number(dir, "type", 10),
		.psb_cyc = read_number(dir, "caps/psb_cyc", 16),
		.mtc = read_number(dir, "caps/mtc", 16),
		.ptwrite = read_number(dir, "caps/ptwrite", 16),
		.mtc_periods = read_number(dir, "caps/mtc_periods", 16),
		.cycle_thresholds = read_number(dir, "caps/cycle_thresholds", 16),
		.psb_periods = read_number(dir, "caps/psb_periods", 16),
		.address_ranges = read_number(dir, "caps/num_address_ranges", 16),
		.max_nonturbo_ratio = (uint8_t)read_number(dir, "max_nonturbo_ratio", 10),
	};
	if (!ret_caps->type)
		return fail(-ENOTSUP, "cannot read %s/type: is sysfs complete here?", dir);
	read_text(dir, "tsc_art_ratio", text, sizeof(text));
	if (sscanf(text, "%u:%u", &ret_caps->tsc_ctc_ratio_n, &ret_caps->tsc_ctc_ratio_d) != 2)
		ret_caps->tsc_ctc_ratio_n = ret_caps->tsc_ctc_ratio_d = 0;
	return 0;
}

/* ---- what the user asks for ---- */

static int set_custom(struct pt_timing *timing, const char *key, size_t len, int value)
{
	const struct {
		const char *name;
		int *field;
	} keys[] = {
		{"cyc", &timing->custom.cyc},
		{"cyc_thresh", &timing->custom.cyc_thresh},
		{"mtc", &timing->custom.mtc},
		{"mtc_period", &timing->custom.mtc_period},
		{"noretcomp", &timing->custom.noretcomp},
		{"psb_period", &timing->custom.psb_period},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strlen(keys[i].name) != len || memcmp(keys[i].name, key, len))
			continue;
		*keys[i].field = value;
		return 0;
	}
	return -EINVAL;
}

static int parse_custom(struct pt_timing *timing, const char *list)
{
	while (*list) {
		size_t len = strcspn(list, "=,");
		char *end;
		long value;

		if (list[len] != '=')
			return -EINVAL;
		value = strtol(list + len + 1, &end, 10);
		if (end == list + len + 1 || value < 0 || value > VALUE_MAX || (*end && *end != ',') ||
		    set_custom(timing, list, len, (int)value))
			return -EINVAL;
		list = *end ? end + 1 : end;
	}
	return 0;
}

int pt_timing_parse(struct pt_timing *ret_timing, const char *text)
{
	static const char *const names[] = {"normal", "low", "high"};
	int err = -EINVAL;

	*ret_timing = (struct pt_timing){.is_asked = strcmp(text, names[0]) != 0,
					 .custom = {-1, -1, -1, -1, -1, -1}};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i]))
			continue;
		ret_timing->resolution = (enum pt_resolution)i;
		return 0;
	}
	if (!strncmp(text, "custom:", 7)) {
		ret_timing->resolution = PT_RESOLUTION_CUSTOM;
		err = parse_custom(ret_timing, text + 7);
	}
	return err ? fail(err,
			  "'%s' is not a timer resolution: give low, normal, high, or custom: with some of "
			  "cyc=0|1,cyc_thresh=N,mtc=0|1,mtc_period=N,noretcomp=0|1,psb_period=N (N from 0 "
			  "to 15)",
			  text)
		   : 0;
}

/* ---- what it becomes ---- */

/* The value to use for a field whose possible values are the bits of `mask`. */
static int pick(const char *key, uint32_t mask, int wanted, int otherwise, uint64_t *ret_value)
{
	char list[64] = "";

	if (wanted < 0) {
		while (otherwise < VALUE_MAX && !(mask >> otherwise & 1))
			otherwise++;
		*ret_value = mask >> otherwise & 1 ? (uint64_t)otherwise : 0;
		return 0;
	}
	*ret_value = (uint64_t)wanted;
	if (mask >> wanted & 1 || (!wanted && !mask))
		return 0;
	for (int i = 0; i <= VALUE_MAX; i++)
		if (mask >> i & 1)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), " %d", i);
	return fail(-ENOTSUP, "this processor has no %s=%d; it has:%s", key, wanted, *list ? list : " none");
}

static int refuse(const char *key)
{
	return fail(-ENOTSUP,
		    "this processor's Intel PT has no %s; leave it out, or use --timer-resolution low", key);
}

/* A PSB every 2^(11 + period) bytes. */
static int psb_period_for(size_t ring_size)
{
	int period = PERIOD_DEFAULT;

	while (period > 0 && ring_size >> (PSB_SHIFT + period) < PSBS_MIN)
		period--;
	return period;
}

int pt_caps_config(const struct pt_caps *caps, const struct pt_timing *timing, size_t ring_size,
		   uint64_t *ret_config)
{
	bool custom = timing->resolution == PT_RESOLUTION_CUSTOM;
	bool cyc = timing->resolution != PT_RESOLUTION_LOW && caps->psb_cyc, mtc = caps->mtc;
	bool noretcomp = timing->resolution == PT_RESOLUTION_HIGH;
	uint64_t cyc_thresh, mtc_period, psb_period;
	int err;

	if (custom) {
		cyc = timing->custom.cyc < 0 ? cyc : timing->custom.cyc;
		mtc = timing->custom.mtc < 0 ? mtc : timing->custom.mtc;
		noretcomp = timing->custom.noretcomp > 0;
	}
	if (cyc && !caps->psb_cyc)
		return refuse("cyc");
	if (mtc && !caps->mtc)
		return refuse("mtc");
	/* Without a choice the processor's own PSB period is the only one. */
	err = pick("psb_period", caps->psb_cyc ? caps->psb_periods : 0,
		   custom ? timing->custom.psb_period : -1, psb_period_for(ring_size), &psb_period);
	if (!err)
		err = pick("mtc_period", caps->mtc_periods, custom ? timing->custom.mtc_period : -1,
			   cyc ? 0 : PERIOD_DEFAULT, &mtc_period);
	if (!err)
		err = pick("cyc_thresh", caps->cycle_thresholds, custom ? timing->custom.cyc_thresh : -1, 1,
			   &cyc_thresh);
	if (err)
		return err;
	*ret_config = TRACE_CONFIG_PT | TRACE_CONFIG_BRANCH | TRACE_CONFIG_TSC |
		      psb_period << TRACE_CONFIG_PSB_SHIFT;
	if (mtc)
		*ret_config |= TRACE_CONFIG_MTC | mtc_period << TRACE_CONFIG_MTC_SHIFT;
	if (cyc)
		*ret_config |= TRACE_CONFIG_CYC | cyc_thresh << TRACE_CONFIG_CYC_SHIFT;
	if (noretcomp)
		*ret_config |= TRACE_CONFIG_NORETCOMP;
	if (caps->ptwrite)
		*ret_config |= TRACE_CONFIG_PTW | TRACE_CONFIG_FUP_ON_PTW;
	return 0;
}

/* SDM vol. 2, CPUID, leaf 1: "Version Information Returned by CPUID in EAX". */
static void identify(struct trace_params *params)
{
	uint32_t eax, ebx, ecx, edx;

	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || ebx != signature_INTEL_ebx ||
	    ecx != signature_INTEL_ecx || edx != signature_INTEL_edx ||
	    !__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return;
	params->stepping = eax & 15;
	params->model = eax >> 4 & 15;
	params->family = eax >> 8 & 15;
	if (params->family == 6 || params->family == 15)
		params->model |= (eax >> 16 & 15) << 4;
	if (params->family == 15)
		params->family = (uint16_t)(params->family + (eax >> 20 & 255));
}

struct trace_params pt_caps_params(const struct pt_caps *caps, uint64_t config)
{
	struct trace_params params = {
		.pmu_type = caps->type,
		.config = config,
		.max_nonturbo_ratio = caps->max_nonturbo_ratio,
		.tsc_ctc_ratio_n = caps->tsc_ctc_ratio_n,
		.tsc_ctc_ratio_d = caps->tsc_ctc_ratio_d,
	};

	identify(&params);
	return params;
}
