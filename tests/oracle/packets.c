/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that single-stepping does not produce, written by hand after the SDM (vol. 3, "Intel Processor
 * Trace", "Packet Definitions"), each sequence as a recording of its own with the instructions that it tells
 * of: DIR/NAME and DIR/NAME.expected.
 *
 *	packets DIR
 *
 *	400000	call 400010
 *	400005	jne 400000
 *	400007	syscall
 *	400009	jmp 400020
 *	400010	ret
 *	400020	jmp *%rax
 *	400030	ptwrite %eax
 *	400034	jmp *%rax
 *	400040	call 400050
 *	400045	syscall
 *	400050	syscall
 *	400052	ret
 *	400060	call 400070
 *	400065	syscall
 *	400070	jmp *%rax
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/sideband.h"
#include "recording/recording.h"
#include "source/encoder.h"

enum { BASE = 0x400000, PID = 7, TSC = 1000000 };

static const uint8_t code[0x1000] = {
	[0x00] = 0xe8, 0x0b, 0,	   0,	 0, /* call */
	[0x05] = 0x75, 0xf9,		    /* jne */
	[0x07] = 0x0f, 0x05,		    /* syscall */
	[0x09] = 0xeb, 0x15,		    /* jmp */
	[0x10] = 0xc3,			    /* ret */
	[0x20] = 0xff, 0xe0,		    /* jmp * */
	[0x30] = 0xf3, 0x0f, 0xae, 0xe0,    /* ptwrite */
	[0x34] = 0xff, 0xe0,		    /* jmp * */
	[0x40] = 0xe8, 0x0b, 0,	   0,	 0, /* call */
	[0x45] = 0x0f, 0x05,		    /* syscall */
	[0x50] = 0x0f, 0x05,		    /* syscall */
	[0x52] = 0xc3,			    /* ret */
	[0x60] = 0xe8, 0x0b, 0,	   0,	 0, /* call */
	[0x65] = 0x0f, 0x05,		    /* syscall */
	[0x70] = 0xff, 0xe0,		    /* jmp * */
};

/* ---- packets: a letter each, with the last byte of an address where they have one ---- */

#define IP(opcode, low) opcode, low, 0x00, 0x40, 0, 0, 0
#define PGE(low)	0x99, 0x01, IP(0x71, low)
#define TIP(low)	IP(0x6d, low)
#define FUP(low)	IP(0x7d, low)
#define PGD_AT(low)	IP(0x61, low)
#define UNKNOWN(low)	0x6d, low, 0x00, 0x70, 0, 0, 0 /* a TIP to where no code is known */
#define KERNEL(low)	0x6d, low, 0x00, 0x00, 0x81, 0xff, 0xff
#define PSB		2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82
#define PSBEND		2, 0x23
#define MODE_64		0x99, 0x01
#define PGD		0x01
#define OVF		0x02, 0xf3
#define TRACE_STOP	0x02, 0x83
#define TNT(bits)	bits
#define NOT_TAKEN	TNT(0x04)
#define TAKEN		TNT(0x06)
#define TSX_BEGIN	0x99, 0x21
#define TSX_COMMIT	0x99, 0x20
#define TSX_ABORT	0x99, 0x22
#define PTW		0x02, 0x12, 0x78, 0x56, 0x34, 0x12
#define PTW_FUP		0x02, 0x92, 0x78, 0x56, 0x34, 0x12
#define PWRE		0x02, 0x22, 0x00, 0x10
#define EXSTOP		0x02, 0x62
#define PWRX		0x02, 0xa2, 0x11, 0, 0, 0, 0
#define CBR		0x02, 0x03, 12, 0
#define PIP		0x02, 0x43, 0, 0x10, 0, 0, 0, 0

static const struct sequence {
	const char *name;
	const char *expected; /* the last two digits of each instruction's address */
	uint8_t bytes[160];
	size_t size;
	const char *filter; /* in the file; NULL: none */
} sequences[] = {
#define SEQUENCE(name, expected, ...)                                                 \
	{                                                                             \
		name, expected, {__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), NULL \
	}
#define FILTERED(name, filter, expected, ...)                                           \
	{                                                                               \
		name, expected, {__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), filter \
	}
	SEQUENCE("plain", "00 10 05 07", PGE(0x00), TIP(0x05), NOT_TAKEN, PGD),
	/* ... an interruption before an instruction, and going on there */
	SEQUENCE("interrupted", "00 10 05 07", PGE(0x00), FUP(0x10), PGD, PGE(0x10), TIP(0x05), NOT_TAKEN,
		 PGD),
	/* ... an asynchronous branch, as a signal's with the kernel's part left out, would be */
	SEQUENCE("diverted", "00 20 09", PGE(0x00), FUP(0x10), TIP(0x20), TIP(0x09), FUP(0x20), PGD),
	/* ... the probed instruction executed in a slot, here the one at 30, and going on behind it */
	SEQUENCE("slot", "00 10 05 30 07", PGE(0x00), TIP(0x05), NOT_TAKEN, FUP(0x07), PGD, PGE(0x30),
		 FUP(0x34), PGD, PGE(0x07), PGD),
	/* ... ranges: tracing ends with the branch out of them, and is stopped by one */
	FILTERED("filtered", "filter 0x0/0x10@code", "00 05 07", PGE(0x00), PGD_AT(0x10), PGE(0x05),
		 NOT_TAKEN, PGD),
	FILTERED("stopped", "stop 0x10/0x1@code", "00", PGE(0x00), PGD_AT(0x10), TRACE_STOP),
	/* ... the same where the processor does not say where a direct branch leads */
	FILTERED("filtered-quietly", "filter 0x0/0x10@code", "00 05 07 09", PGE(0x00), PGD, PGE(0x05),
		 NOT_TAKEN, PGD, PGE(0x09), PGD),
	FILTERED("filtered-condition", "filter 0x5/0x8@code", "05 05 07", PGE(0x05), PGD, PGE(0x05),
		 NOT_TAKEN, PGD),
	FILTERED("stopped-quietly", "stop 0x10/0x1@code", "00", PGE(0x00), PGD, TRACE_STOP),
	/* ... overflows: while tracing, ... */
	SEQUENCE("overflow", "00 10 05 07", PGE(0x00), TIP(0x05), OVF, FUP(0x05), NOT_TAKEN, PGD),
	/* ... tracing before and not behind, ... */
	SEQUENCE("overflow-ends", "00 10 07", PGE(0x00), TIP(0x05), OVF, PGE(0x07), PGD),
	/* ... and not tracing at all. */
	SEQUENCE("overflow-off", "00 10 05 07 09", PGE(0x00), TIP(0x05), NOT_TAKEN, PGD, OVF, PGE(0x09),
		 FUP(0x20), PGD),
	/*
	 * ... while tracing, as a FUP says by mistake (erratum APL12), and it is off, as the next PSB+ says,
	 * ...
	 */
	SEQUENCE("overflow-mistaken", "00 10 09", PGE(0x00), TIP(0x05), OVF, FUP(0x05), PSB, MODE_64, PSBEND,
		 PGE(0x09), FUP(0x20), PGD),
	/* ... transactions: one that commits, and one that aborts to where it may */
	SEQUENCE("commit", "00 10 05 07", PGE(0x00), TSX_BEGIN, FUP(0x10), TIP(0x05), TSX_COMMIT, FUP(0x05),
		 NOT_TAKEN, PGD),
	SEQUENCE("abort", "00 05 07", TSX_COMMIT, PGE(0x00), TSX_BEGIN, FUP(0x00), TSX_ABORT, FUP(0x10),
		 TIP(0x05), NOT_TAKEN, PGD),
	/* ... what a program writes itself, and power */
	SEQUENCE("ptwrite", "30 34 00 10 05 07", PGE(0x30), PTW, TIP(0x00), TIP(0x05), NOT_TAKEN, PGD),
	SEQUENCE("ptwrite-at", "30 34 00 10 05 07", PGE(0x30), PTW_FUP, FUP(0x30), TIP(0x00), TIP(0x05),
		 NOT_TAKEN, PGD),
	SEQUENCE("power", "00 10 05 07 09", PGE(0x00), TIP(0x05), NOT_TAKEN, PGD, PWRE, EXSTOP, PWRX, CBR,
		 PGE(0x09), FUP(0x20), PGD),
	SEQUENCE("paging", "00 10 05 07", PIP, PGE(0x00), TIP(0x05), PIP, NOT_TAKEN, PGD),
	/* ... a PSB+ that says already where tracing is to begin (erratum BDM70) */
	SEQUENCE("begun-by-psb", "00 10 05 07 09", PGE(0x00), TIP(0x05), NOT_TAKEN, PGD, PSB, MODE_64,
		 FUP(0x09), PSBEND, PGE(0x09), FUP(0x20), PGD),
	/* ... a trace that ends in the middle: nothing shows what came next */
	SEQUENCE("no-end", "00 10", PGE(0x00), TIP(0x05)),
	/* ... code that is not known, up to the next address that is; ... */
	SEQUENCE("lost", "20 09 20 05 07", PGE(0x20), UNKNOWN(0), TAKEN, NOT_TAKEN, UNKNOWN(8), TAKEN,
		 TIP(0x09), TIP(0x05), NOT_TAKEN, PGD),
	SEQUENCE("lost-twice", "20 09 20 05 07", PGE(0x20), UNKNOWN(0), TAKEN, TIP(0x09), UNKNOWN(4), TAKEN,
		 TIP(0x05), NOT_TAKEN, PGD),
	/* ... where tracing ends and begins in between, ... */
	SEQUENCE("lost-off", "20 00 10 05 07", PGE(0x20), UNKNOWN(0), TAKEN, PGD, PGE(0x00), TIP(0x05),
		 NOT_TAKEN, PGD),
	/* ... an interrupt comes back, ... */
	SEQUENCE("lost-interrupted", "20 05 07", PGE(0x20), UNKNOWN(0), TAKEN, FUP(0x09), TIP(0x05),
		 NOT_TAKEN, PGD),
	/* ... a kernel: behind it a return leads to the call before it, ... */
	SEQUENCE("lost-kernel", "40 50 52 45", PGE(0x40), KERNEL(0), TAKEN, KERNEL(8), NOT_TAKEN, TIP(0x52),
		 TAKEN, PGD),
	/* ... and one that it does not lead back from: a return then leads nobody knows where. */
	SEQUENCE("lost-return", "60 70 09 20 05 07", PGE(0x60), UNKNOWN(0), TAKEN, TIP(0x09), TIP(0x10),
		 TAKEN, TIP(0x05), NOT_TAKEN, PGD),
};

/* ---- files ---- */

static void die(int err, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, fail_message(err));
	exit(1);
}

static FILE *make_file(const char *dir, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "we");
	if (!file)
		die(-EIO, path);
	return file;
}

static void write_expected(const char *dir, const struct sequence *sequence)
{
	char name[64];
	FILE *file;

	snprintf(name, sizeof(name), "%s.expected", sequence->name);
	file = make_file(dir, name);
	for (const char *at = sequence->expected; *at; at += at[2] ? 3 : 2)
		fprintf(file, "%d 4000%.2s\n", PID, at);
	fclose(file);
}

static size_t put_stream(uint8_t *stream, const struct sequence *sequence)
{
	static const uint8_t psb[] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	const uint64_t tsc = TSC;
	size_t size = sizeof(psb);

	memcpy(stream, psb, sizeof(psb));
	stream[size++] = 0x19;
	memcpy(stream + size, &tsc, 7);
	size += 7;
	stream[size++] = 0x02; /* PSBEND */
	stream[size++] = 0x23;
	memcpy(stream + size, sequence->bytes, sequence->size);
	return size + sequence->size;
}

static void write_recording(const char *dir, const struct sequence *sequence)
{
	struct snapshot *snapshot;
	struct aux_trace *aux;
	char code_path[512], path[512];
	int err = snapshot_new(&snapshot);

	snprintf(code_path, sizeof(code_path), "%s/code", dir);
	snprintf(path, sizeof(path), "%s/%s", dir, sequence->name);
	aux = err ? NULL : snapshot_add_aux(snapshot);
	if (!aux)
		die(-ENOMEM, path);
	*aux = (struct aux_trace){.pid = PID, .tid = PID, .cpu = -1, .ref_tsc = TSC, .bytes = malloc(512)};
	aux->size = put_stream(aux->bytes, sequence);
	snapshot->params = encoder_default_params();
	snapshot->clock = encoder_default_clock();
	snapshot->source = strdup("intel_pt");
	snapshot->stopped_by = strdup("");
	snapshot->command = strdup(sequence->name);
	if (sequence->filter &&
	    asprintf(&snapshot->filter, "%.*s%s", (int)(strchr(sequence->filter, '@') + 1 - sequence->filter),
		     sequence->filter, code_path) < 0)
		die(-ENOMEM, path);
	err = sideband_add_comm(snapshot, PID, PID, 1, sequence->name, 1);
	if (!err)
		err = sideband_add_mmap(
			snapshot, PID, PID, 2,
			&(struct sideband_mapping){.addr = BASE, .size = sizeof(code), .name = code_path});
	if (!err)
		err = recording_save(snapshot, path);
	if (err)
		die(err, path);
	snapshot_free(snapshot);
}

int main(int argc, char **argv)
{
	FILE *file;

	if (argc != 2)
		return 2;
	file = make_file(argv[1], "code");
	fwrite(code, sizeof(code), 1, file);
	fclose(file);
	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++) {
		write_expected(argv[1], &sequences[i]);
		write_recording(argv[1], &sequences[i]);
		puts(sequences[i].name);
	}
	return 0;
}
