/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libipt's parameters of the processor. Without the crystal clock ratio and the MTC frequency it drops MTC
 * packets; without the nominal frequency it drops CYC packets until it has calibrated itself over two MTCs. A
 * processor that libipt does not know is probably newer than the library, and has no errata, with one
 * exception: BDM70 (a PSB+ with an address before tracing begins) is enabled for all, because newer
 * processors have it, too, and it is unambiguous.
 */
#include "decode/libipt/setup.h"

#include <intel-pt.h>

void setup_config(struct pt_config *ret_config, const struct trace_params *params, uint8_t *begin,
		  uint8_t *end)
{
	struct pt_config config;

	pt_config_init(&config);
	config.begin = begin;
	config.end = end;
	if (params->family) {
		config.cpu = (struct pt_cpu){
			.vendor = pcv_intel,
			.family = params->family,
			.model = params->model,
			.stepping = params->stepping,
		};
		if (pt_cpu_errata(&config.errata, &config.cpu) < 0)
			config.errata = (struct pt_errata){0};
	}
	config.errata.bdm70 = 1;
	config.cpuid_0x15_eax = params->tsc_ctc_ratio_d;
	config.cpuid_0x15_ebx = params->tsc_ctc_ratio_n;
	config.mtc_freq = (params->config & TRACE_CONFIG_MTC_MASK) >> TRACE_CONFIG_MTC_SHIFT;
	config.nom_freq = params->max_nonturbo_ratio;
	*ret_config = config;
}
