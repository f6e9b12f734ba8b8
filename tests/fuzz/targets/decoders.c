/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets and code of any content, given to both decoders: what the fast one vouches for, libipt must give,
 * too, with the same times. The input is CODE_BYTES of code, a byte for the processor, and packets, which
 * stand behind a PSB+ that begins at the code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "decode/blocks.h"
#include "decode/fast.h"
#include "tests/same_branches.h"

enum { CODE_BYTES = 256, BASE = 0x400000, HEADER_BYTES = 64, MODE_AT = 35 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* PSB, TSC, TMA, CBR, MODE.Exec, FUP, PSBEND */
static const uint8_t header[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x19, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x73, 0x34, 0x12, 0x00, 0x10, 0x00, 0x02,
	0x03, 0x10, 0x00, 0x99, 0x01, 0x7d, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x02, 0x23,
};

static uint8_t stream[1 << 17];

static int decode(const struct decoder_config *config, size_t size, bool is_fast,
		  struct branch_list *branches)
{
	struct decoder_config own = *config;
	struct fast_memory memory = {0};
	struct pieces pieces;
	const char *why;
	int err = decoder_cache_new(&own.cache);

	if (!err)
		err = pieces_init(&pieces, &own, stream, size);
	if (err)
		abort();
	/* What stands behind another PSB is as good as another input. */
	err = is_fast ? fast_decode(&pieces, 0, &memory, branches, &why)
		      : blocks_decode(&pieces, 0, branches);
	pieces_release(&pieces);
	decoder_cache_free(own.cache);
	return err;
}

static void print(const char *name, const struct branch_list *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		const struct branch *branch = &list->items[i];

		fprintf(stderr, "%s %zu: %lu %s %lx -> %lx flags %x gap %d len %d detail %d\n", name, i,
			branch->tsc, branch_kind_to_str(branch->kind), branch->from, branch->to,
			branch->flags, branch->gap, branch->from_len, branch->detail);
	}
}

static void compare(const struct decoder_config *config, size_t size)
{
	struct branch_list ours = {0}, theirs = {0};

	if (!decode(config, size, true, &ours)) {
		int err = decode(config, size, false, &theirs);

		if (err) {
			fprintf(stderr, "reference: %s\n", fail_message(err));
			abort();
		}
		if (first_difference(&ours, &theirs) != SIZE_MAX) {
			print("fast", &ours);
			print("reference", &theirs);
			abort();
		}
	}
	branch_list_release(&ours);
	branch_list_release(&theirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static int fd = -1;
	static char path[64];
	struct trace_params params = {
		.config = TRACE_CONFIG_PT | TRACE_CONFIG_CYC | TRACE_CONFIG_MTC | TRACE_CONFIG_TSC |
			  TRACE_CONFIG_BRANCH,
		.tsc_ctc_ratio_n = 40,
		.tsc_ctc_ratio_d = 1,
	};
	const struct code_section section = {.path = path, .size = CODE_BYTES, .addr = BASE};
	const struct code_image image = {.sections = &section, .section_cnt = 1};
	const struct code_version version = {0};
	const struct decoder_config config = {
		.params = &params, .images = &image, .image_cnt = 1, .versions = &version, .version_cnt = 1};

	if (size <= CODE_BYTES + 1 || size > sizeof(stream) - HEADER_BYTES)
		return 0;
	if (fd < 0) {
		fd = memfd_create("code", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	/*
	 * All in 64-bit or all in 32-bit mode: libipt's cache of blocks does not tell code apart that is run
	 * in both.
	 */
	for (size_t i = CODE_BYTES + 1; i + 1 < size; i++)
		if (bytes[i] == 0x99 && !(bytes[i + 1] & 0xe0) &&
		    (bytes[i + 1] & 3) != (bytes[CODE_BYTES] & 0x80 ? 2 : 1))
			return 0;
	/*
	 * For libipt an end without an address is also where CR3 changes, by which Linux never filters.
	 */
	if (memmem(bytes, CODE_BYTES, "\x0f\x22", 2) &&
	    memchr(bytes + CODE_BYTES + 1, 1, size - CODE_BYTES - 1))
		return 0;
	if (fd < 0 || pwrite(fd, bytes, CODE_BYTES, 0) != CODE_BYTES)
		abort();
	/* Frequencies, and a processor with errata of its timing packets or one without. */
	params.max_nonturbo_ratio = bytes[CODE_BYTES] & 1 ? 30 : 0;
	params.config |= (uint64_t)(bytes[CODE_BYTES] >> 1 & 15) << TRACE_CONFIG_MTC_SHIFT;
	params.family = bytes[CODE_BYTES] & 0x20 ? 6 : 0;
	params.model = bytes[CODE_BYTES] & 0x40 ? 0x5e : 0x3d;
	memcpy(stream, header, sizeof(header));
	if (bytes[CODE_BYTES] & 0x80)
		stream[MODE_AT + 1] = 0x02;
	memcpy(stream + sizeof(header), bytes + CODE_BYTES + 1, size - CODE_BYTES - 1);
	fail_reset();
	compare(&config, sizeof(header) + size - CODE_BYTES - 1);
	return 0;
}
