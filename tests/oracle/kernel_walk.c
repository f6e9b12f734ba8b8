/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * No software processor can trace the kernel it runs under. So the kernel's own code, as a recording has it,
 * is walked here at random, and the packets of that way written: system calls into it, conditions taken or
 * not, indirect calls of any function, returns, and back.
 *
 *	kernel_walk RECORDING NEW	RECORDING has kernel code; NEW gets the new trace,
 *					NEW.log its instructions
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "model/sideband.h"
#include "recording/recording.h"
#include "source/encoder.h"
#include "source/insn.h"

enum { INSTRUCTIONS = 200000, STACK_MAX = 1000, LENGTH_MAX = 400, RING = 1 << 22 };

#define SYSCALL "\x0f\x05"
#define SYSRET	"\x48\x0f\x07" /* which user code has no use for */

struct walk {
	struct snapshot *snapshot;
	struct encoder encoder;
	FILE *log;
	int32_t pid;
	uint64_t user; /* a system call in the C library */
	uint64_t entry;
	uint64_t *functions;
	size_t function_cnt, function_cap;
	uint64_t stack[STACK_MAX];
	size_t depth;
	uint64_t tsc;
	int left;			 /* of this way through the kernel */
	uint64_t silent[LENGTH_MAX + 2]; /* where it has been since the last packet */
	size_t silent_cnt;
};

static void die(const char *what)
{
	fprintf(stderr, "kernel_walk: %s\n", what);
	exit(1);
}

/* Reproducible. */
static uint32_t any(uint32_t below)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % below;
}

/* ---- code ---- */

static void load_bytes(struct code_copy *copy)
{
	int fd = open(copy->path, O_RDONLY);

	copy->bytes = malloc(copy->size + 1);
	if (fd < 0 || pread(fd, copy->bytes, copy->size, (off_t)copy->file_offset) != (ssize_t)copy->size)
		die(copy->path);
	copy->bytes[copy->size] = 0;
	close(fd);
	free(copy->path);
	copy->path = NULL;
}

/*
 * A line: "ADDRESS TYPE NAME[\tMODULE]". By hand: sscanf(3) measures all that is left of the text each time.
 */
static void read_functions(struct walk *walk, const char *text)
{
	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		char *type;
		uint64_t addr = strtoull(line, &type, 16);
		size_t len;

		if (end - type < 4)
			continue;
		len = strcspn(type + 3, "\t\n");
		if (len == strlen("entry_SYSCALL_64") && !strncmp(type + 3, "entry_SYSCALL_64", len))
			walk->entry = addr;
		if (type[1] == 'T' && !memchr(type + 3, '.', len) &&
		    ARRAY_PUSH(walk->functions, walk->function_cnt, walk->function_cap, addr))
			die("no memory");
	}
}

/* A system call in the C library of the first process that has it. */
static void find_user(struct walk *walk)
{
	struct sideband_record record;
	size_t pos = 0;

	while (!walk->user && sideband_next(walk->snapshot, &pos, &record) > 0) {
		const struct sideband_mapping *mapping = &record.mapping;
		int fd = record.type == PERF_RECORD_MMAP2 && strstr(mapping->name, "/libc.so")
				 ? open(mapping->name, O_RDONLY)
				 : -1;
		uint8_t *bytes = fd < 0 ? NULL : calloc(1, mapping->size);
		const uint8_t *found = NULL;

		if (bytes && pread(fd, bytes, mapping->size, (off_t)mapping->file_offset) > 0)
			found = memmem(bytes, mapping->size, SYSCALL, sizeof(SYSCALL) - 1);
		walk->pid = record.pid;
		walk->user = found ? mapping->addr + (uint64_t)(found - bytes) : 0;
		free(bytes);
		close(fd);
	}
}

static void load(struct walk *walk, const char *path)
{
	if (recording_load(&walk->snapshot, path))
		die(path);
	for (size_t i = 0; i < walk->snapshot->copy_cnt; i++) {
		struct code_copy *copy = &walk->snapshot->copies[i];

		load_bytes(copy);
		if (!strcmp(copy->name, KERNEL_NAMES))
			read_functions(walk, (const char *)copy->bytes);
	}
	find_user(walk);
	if (!walk->entry || !walk->user)
		die("there is no kernel code in the recording, or no C library");
}

static struct insn insn_at(const struct walk *walk, uint64_t ip)
{
	for (size_t i = 0; i < walk->snapshot->copy_cnt; i++) {
		const struct code_copy *copy = &walk->snapshot->copies[i];
		uint64_t at = ip - copy->addr;

		if (strcmp(copy->name, KERNEL_CODE) || at >= copy->size)
			continue;
		if (copy->size - at >= 3 && !memcmp(copy->bytes + at, SYSRET, 3))
			return (struct insn){.ip = ip, .kind = INSN_FAR, .len = 3};
		return insn_classify(ip, copy->bytes + at, copy->size - at < 15 ? copy->size - at : 15);
	}
	return (struct insn){.ip = ip, .kind = INSN_UNKNOWN};
}

/* ---- the way ---- */

static void log_insn(const struct walk *walk, uint64_t ip)
{
	fprintf(walk->log, "%d %lx\n", walk->pid, ip);
}

/* The system call, and its far branch into the kernel. */
static uint64_t enter(struct walk *walk)
{
	log_insn(walk, walk->user);
	walk->depth = 0;
	walk->left = LENGTH_MAX;
	walk->silent_cnt = 0;
	encoder_indirect(&walk->encoder, ++walk->tsc, walk->entry);
	return walk->entry;
}

/* Something that cannot go on: an interrupt ends the trace, which goes on in user mode. */
static uint64_t give_up(struct walk *walk, uint64_t ip)
{
	encoder_disable_async(&walk->encoder, ++walk->tsc, ip);
	encoder_enable(&walk->encoder, ++walk->tsc, walk->user);
	return enter(walk);
}

static uint64_t some_function(const struct walk *walk)
{
	return walk->functions[any((uint32_t)walk->function_cnt)];
}

static void push(struct walk *walk, uint64_t address)
{
	encoder_push_return(&walk->encoder, address);
	walk->stack[walk->depth++] = address;
}

static uint64_t leave_function(struct walk *walk)
{
	uint64_t to = walk->depth ? walk->stack[--walk->depth] : some_function(walk);

	encoder_return(&walk->encoder, walk->tsc, to);
	return to;
}

/* Where the instruction leads. */
static uint64_t walk_insn(struct walk *walk, const struct insn *insn)
{
	uint64_t next = insn->ip + insn->len, to;

	switch (insn->kind) {
	case INSN_COND:
		to = any(2) ? insn->target : next;
		encoder_conditional(&walk->encoder, walk->tsc, to != next);
		return to;
	case INSN_JUMP:
		return insn->target;
	case INSN_CALL:
		push(walk, next);
		return insn->target;
	case INSN_CALL_INDIRECT:
		push(walk, next);
		to = some_function(walk);
		encoder_indirect(&walk->encoder, walk->tsc, to);
		return to;
	case INSN_JUMP_INDIRECT:
		to = some_function(walk);
		encoder_indirect(&walk->encoder, walk->tsc, to);
		return to;
	case INSN_RETURN:
		return leave_function(walk);
	case INSN_FAR: /* sysret, iret: back, and in again */
		encoder_indirect(&walk->encoder, walk->tsc, walk->user);
		return enter(walk);
	default:
		return next;
	}
}

/* A loop without a packet has no end, as far as a decoder can tell. */
static bool closes_silent_loop(struct walk *walk, const struct insn *insn)
{
	bool is_direct = insn->kind == INSN_JUMP || insn->kind == INSN_CALL;
	uint64_t next = is_direct ? insn->target : insn->ip + insn->len;

	if (insn->kind != INSN_OTHER && !is_direct) {
		walk->silent_cnt = 0;
		return false;
	}
	walk->silent[walk->silent_cnt++] = insn->ip;
	for (size_t i = 0; i < walk->silent_cnt; i++)
		if (walk->silent[i] == next)
			return true;
	return false;
}

static bool can_go_on(struct walk *walk, const struct insn *insn)
{
	return insn->kind != INSN_UNKNOWN && insn->kind != INSN_SYSCALL && insn->kind != INSN_BREAK &&
	       walk->depth < STACK_MAX && walk->left-- > 0 && !closes_silent_loop(walk, insn);
}

static void walk_all(struct walk *walk)
{
	uint64_t ip;

	encoder_enable(&walk->encoder, ++walk->tsc, walk->user);
	ip = enter(walk);
	for (int i = 0; i < INSTRUCTIONS; i++) {
		struct insn insn = insn_at(walk, ip);

		if (!can_go_on(walk, &insn)) {
			ip = give_up(walk, ip);
			continue;
		}
		log_insn(walk, ip);
		walk->tsc += 1 + any(3);
		ip = walk_insn(walk, &insn);
		encoder_boundary(&walk->encoder, walk->tsc, ip);
	}
	encoder_disable_async(&walk->encoder, ++walk->tsc, ip);
}

/* ---- the new recording ---- */

static void replace_trace(struct walk *walk, const struct trace_params *params)
{
	struct snapshot *snapshot = walk->snapshot;
	struct aux_trace *aux;

	for (size_t i = 0; i < snapshot->aux_cnt; i++)
		if (!snapshot->aux[i].is_borrowed)
			free(snapshot->aux[i].bytes);
	snapshot->aux_cnt = 0;
	snapshot->params = *params;
	snapshot->hits->cnt = 0;
	aux = snapshot_add_aux(snapshot);
	*aux = (struct aux_trace){.pid = walk->pid, .tid = walk->pid, .cpu = -1};
	if (aux_ring_linearise(&walk->encoder.ring, &aux->bytes, &aux->size, &aux->offset))
		die("no memory");
	aux->ref_tsc = trace_first_tsc(aux->bytes, aux->size, walk->tsc);
}

int main(int argc, char **argv)
{
	static struct walk walk;
	struct trace_params params = encoder_default_params();
	char path[512];

	if (argc != 3) {
		fputs("usage: kernel_walk RECORDING NEW\n", stderr);
		return 2;
	}
	load(&walk, argv[1]);
	snprintf(path, sizeof(path), "%s.log", argv[2]);
	walk.log = fopen(path, "we");
	if (!walk.log || encoder_init(&walk.encoder, &params, RING))
		die(path);
	/* Behind all records, which the processes begin with. */
	walk.tsc = trace_clock_tsc(&walk.snapshot->clock, walk.snapshot->clock.trace_ns);
	walk_all(&walk);
	fclose(walk.log);
	replace_trace(&walk, &params);
	if (recording_save(walk.snapshot, argv[2]))
		die(argv[2]);
	snapshot_free(walk.snapshot);
	return 0;
}
