/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large traces of real programs, for benches: valgrind's tool lackey tells which blocks of code a program
 * runs, six million instructions a second, and the packet generator of the step source writes what a
 * processor would have. One instruction takes two ticks.
 *
 *	lackey [-c] [-n INSTRUCTIONS] RECORDING PROGRAM ARG...		-c: with CYC packets
 *
 * One thread; signals handlers are shown as interrupts.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "model/sideband.h"
#include "recording/recording.h"
#include "source/encoder.h"
#include "source/insn.h"

enum {
	RING = 256 << 20,
	BLOCKS = 1 << 22, /* a power of two */
	BLOCK_INSNS = 100,
	TICKS_AN_INSN = 2,
	MTC_FREQ = 3, /* as perf has it */
};

struct mapping {
	uint64_t addr, size, file_offset;
	const uint8_t *bytes;
	char name[256];
};

/* From an address to the next branch. */
struct block {
	uint64_t ip;
	struct insn last; /* INSN_OTHER: there is no branch in reach */
	uint32_t insn_cnt;
};

struct walk {
	struct encoder encoder;
	struct trace_params params;
	struct snapshot *snapshot;
	struct mapping *mappings;
	size_t cnt, cap;
	struct block *blocks;
	int32_t pid;
	uint64_t tsc, insns, strange;
};

static void die(const char *what)
{
	fprintf(stderr, "lackey: %s\n", what);
	exit(1);
}

/* ---- code ---- */

static void add_mapping(struct walk *walk, const struct mapping *wanted)
{
	struct sideband_mapping record = {.addr = wanted->addr,
					  .size = wanted->size,
					  .file_offset = wanted->file_offset,
					  .name = wanted->name};
	struct mapping mapping = *wanted;
	int fd = open(mapping.name, O_RDONLY | O_CLOEXEC);
	struct stat st;

	for (size_t i = 0; i < walk->cnt; i++)
		if (walk->mappings[i].addr == mapping.addr)
			return;
	if (fd < 0 || fstat(fd, &st) || stat(mapping.name, &st))
		return;
	record.ino = st.st_ino;
	mapping.bytes = mmap(NULL, mapping.size, PROT_READ, MAP_SHARED, fd, (off_t)mapping.file_offset);
	close(fd);
	if (mapping.bytes == MAP_FAILED)
		return;
	if (ARRAY_PUSH(walk->mappings, walk->cnt, walk->cap, mapping) ||
	    sideband_add_mmap(walk->snapshot, walk->pid, walk->pid, 1, &record))
		die("no memory");
}

static void read_maps(struct walk *walk)
{
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", walk->pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		struct mapping mapping = {0};
		uint64_t end;
		char mode[8];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s", &mapping.addr, &end,
			   mode, &mapping.file_offset, mapping.name) != 5 ||
		    mode[2] != 'x' || mapping.name[0] != '/' || strstr(mapping.name, "/lackey-"))
			continue;
		mapping.size = end - mapping.addr;
		add_mapping(walk, &mapping);
	}
	if (file)
		fclose(file);
}

static const struct mapping *mapping_at(struct walk *walk, uint64_t ip)
{
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < walk->cnt; i++)
			if (ip - walk->mappings[i].addr < walk->mappings[i].size)
				return &walk->mappings[i];
		read_maps(walk);
	}
	return NULL;
}

static struct insn insn_at(struct walk *walk, uint64_t ip)
{
	const struct mapping *mapping = mapping_at(walk, ip);
	size_t left;

	if (!mapping)
		return (struct insn){.ip = ip, .kind = INSN_UNKNOWN};
	left = mapping->size - (ip - mapping->addr);
	return insn_classify(ip, mapping->bytes + (ip - mapping->addr), left < 15 ? left : 15);
}

/* Repeated instructions are blocks of their own: each iteration is one more. */
static bool ends_block(const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_OTHER:
	case INSN_PUSHF:
	case INSN_MOV_SS:
		return false;
	default:
		return true;
	}
}

static const struct block *block_at(struct walk *walk, uint64_t ip)
{
	struct block *block = &walk->blocks[(ip ^ ip >> 22) % BLOCKS];
	struct insn insn;
	uint32_t cnt = 0;

	if (block->ip == ip && block->insn_cnt)
		return block;
	*block = (struct block){.ip = ip};
	do {
		insn = insn_at(walk, ip);
		ip += insn.len;
		cnt++;
	} while (!ends_block(&insn) && cnt < BLOCK_INSNS);
	block->last = insn;
	block->insn_cnt = cnt;
	return block;
}

/* Whether `next` is an instruction of the block, which then ended before it. */
static uint32_t ended_before(struct walk *walk, const struct block *block, uint64_t next)
{
	uint64_t ip = block->ip;

	for (uint32_t cnt = 0; cnt <= block->insn_cnt; cnt++) {
		if (ip == next)
			return cnt + 1;
		ip += insn_at(walk, ip).len;
	}
	return 0;
}

/* ---- packets ---- */

/* The branch leads to `next`; false: it cannot. */
static bool take(struct walk *walk, const struct insn *insn, uint64_t next)
{
	struct encoder *encoder = &walk->encoder;
	uint64_t behind = insn->ip + insn->len;

	switch (insn->kind) {
	case INSN_COND:
		if (next != insn->target && next != behind)
			return false;
		encoder_conditional(encoder, walk->tsc, next == insn->target);
		return true;
	case INSN_JUMP:
	case INSN_CALL_NEXT:
		return next == insn->target;
	case INSN_CALL:
		if (next != insn->target)
			return false;
		encoder_push_return(encoder, behind);
		return true;
	case INSN_CALL_INDIRECT:
		encoder_push_return(encoder, behind);
		encoder_indirect(encoder, walk->tsc, next);
		return true;
	case INSN_JUMP_INDIRECT:
	case INSN_FAR:
		encoder_indirect(encoder, walk->tsc, next);
		return true;
	case INSN_REP:
		return next == insn->ip || next == behind;
	case INSN_RETURN:
		encoder_return(encoder, walk->tsc, next);
		return true;
	case INSN_SYSCALL:
		encoder_disable(encoder, walk->tsc);
		encoder_enable(encoder, walk->tsc + 100, next);
		walk->tsc += 100;
		return true;
	default:
		return false;
	}
}

static void go(struct walk *walk, uint64_t ip, uint64_t next)
{
	const struct block *block = block_at(walk, ip);
	uint32_t cnt;

	if (ends_block(&block->last) && block->last.kind != INSN_UNKNOWN) {
		walk->tsc += block->insn_cnt * TICKS_AN_INSN;
		if (take(walk, &block->last, next)) {
			walk->insns += block->insn_cnt;
			encoder_boundary(&walk->encoder, walk->tsc, next);
			return;
		}
	}
	cnt = ended_before(walk, block, next);
	if (!cnt) {
		walk->strange++;
		encoder_disable_async(&walk->encoder, walk->tsc, ip);
		encoder_enable(&walk->encoder, walk->tsc, next);
		return;
	}
	walk->insns += cnt - 1;
	walk->tsc += (cnt - 1) * TICKS_AN_INSN;
}

/* ---- lackey ---- */

static FILE *start(struct walk *walk, char **argv)
{
	static const char *const options[] = {"valgrind",
					      "--tool=lackey",
					      "--trace-superblocks=yes",
					      "--vex-guest-chase=no",
					      "--vex-guest-max-insns=100",
					      "--basic-counts=no",
					      "--log-fd=9"};
	size_t option_cnt = sizeof(options) / sizeof(*options), argc = 0;
	char **all;
	int pipes[2];

	while (argv[argc])
		argc++;
	all = calloc(option_cnt + argc + 1, sizeof(*all));
	if (!all || pipe2(pipes, O_CLOEXEC))
		die("pipe");
	memcpy(all, options, sizeof(options));
	memcpy(all + option_cnt, argv, argc * sizeof(*all));
	fcntl(pipes[0], F_SETPIPE_SZ, 1 << 20);
	walk->pid = fork();
	if (!walk->pid) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		dup2(pipes[1], 9);
		execvp(all[0], all);
		_exit(127);
	}
	close(pipes[1]);
	free(all);
	return fdopen(pipes[0], "r");
}

static void walk_all(struct walk *walk, FILE *blocks, uint64_t insn_max)
{
	uint64_t ip = 0, next;
	char *line = NULL;
	size_t size = 0;

	while (walk->insns < insn_max && getline(&line, &size, blocks) > 0) {
		if (strncmp(line, "SB ", 3))
			continue;
		next = strtoull(line + 3, NULL, 16);
		if (ip)
			go(walk, ip, next);
		else
			encoder_enable(&walk->encoder, walk->tsc, next);
		ip = next;
	}
	if (ip)
		encoder_disable_async(&walk->encoder, walk->tsc, ip);
	encoder_flush(&walk->encoder);
	free(line);
}

static void save(struct walk *walk, const char *path, char **argv)
{
	struct snapshot *snapshot = walk->snapshot;
	struct aux_trace *aux = snapshot_add_aux(snapshot);
	int err;

	snapshot->params = walk->params;
	snapshot->clock = encoder_default_clock();
	snapshot->source = strdup("step");
	snapshot->stopped_by = strdup("");
	snapshot->command = strdup(argv[0]);
	*aux = (struct aux_trace){.pid = walk->pid, .tid = walk->pid, .cpu = -1};
	err = aux_ring_linearise(&walk->encoder.ring, &aux->bytes, &aux->size, &aux->offset);
	aux->ref_tsc = trace_first_tsc(aux->bytes, aux->size, walk->tsc);
	if (!err)
		err = sideband_add_comm(snapshot, walk->pid, walk->pid, 1, "lackey", 0);
	if (!err)
		err = recording_save(snapshot, path);
	if (err)
		die(fail_message(err));
	printf("%s: %" PRIu64 " instructions, %zu bytes, %" PRIu64 " interrupts\n", path, walk->insns,
	       aux->size, walk->strange);
}

int main(int argc, char **argv)
{
	static struct walk walk = {.tsc = 1000000000};
	uint64_t insn_max = UINT64_MAX;
	bool cyc = false;
	FILE *blocks;
	int opt;

	while ((opt = getopt(argc, argv, "+cn:")) != -1) {
		if (opt == 'c')
			cyc = true;
		else if (opt == 'n')
			insn_max = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (argc - optind < 2) {
		fputs("usage: lackey [-c] [-n INSTRUCTIONS] RECORDING PROGRAM ARG...\n", stderr);
		return 2;
	}
	walk.params = encoder_default_params();
	walk.params.config &= ~TRACE_CONFIG_MTC_MASK;
	walk.params.config |= MTC_FREQ << TRACE_CONFIG_MTC_SHIFT;
	if (!cyc)
		walk.params.config &= ~TRACE_CONFIG_CYC;
	walk.blocks = calloc(BLOCKS, sizeof(*walk.blocks));
	if (!walk.blocks || snapshot_new(&walk.snapshot) || encoder_init(&walk.encoder, &walk.params, RING))
		die("no memory");
	blocks = start(&walk, argv + optind + 1);
	walk_all(&walk, blocks, insn_max);
	kill(walk.pid, SIGKILL);
	waitpid(walk.pid, NULL, 0);
	save(&walk, argv[optind], argv + optind + 1);
	snapshot_free(walk.snapshot);
	return 0;
}
