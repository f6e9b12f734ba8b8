/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel puts a breakpoint over the first byte of an instruction, and later executes that instruction
 * elsewhere or emulates it. It refuses some instructions (arch/x86/kernel/uprobes.c), but only when the file
 * is mapped: a probe attached before the program starts is accepted and never fires. So the same check is
 * made here, before anything runs. It refuses only what every kernel refuses; probe_verify() finds what the
 * running kernel refuses.
 */
#include "probe/probe.h"

#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include <Zydis/Zydis.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "probe/args/arg_layout.h"
#include "probe/boundary.h"
#include "probe/site.h"

enum { PREFIX_OPERAND_SIZE = 0x66 };

static bool has_prefix(const ZydisDecodedInstruction *insn, uint8_t prefix)
{
	for (size_t i = 0; i < insn->raw.prefix_count; i++)
		if (insn->raw.prefixes[i].value == prefix)
			return true;
	return false;
}

static bool has_refused_prefix(const ZydisDecodedInstruction *insn)
{
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e}; /* es, cs, ss, ds */

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (has_prefix(insn, prefixes[i]))
			return true;
	return false;
}

/* Input and output, interrupts, and what only the kernel may do. */
static bool has_refused_opcode(const ZydisDecodedInstruction *insn)
{
	static const uint8_t opcodes[] = {0x6c, 0x6d, 0x6e, 0x6f, 0xcc, 0xcd, 0xcf, 0xe4, 0xe5, 0xe6,
					  0xe7, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xfa, 0xfb};

	return insn->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && memchr(opcodes, insn->opcode, sizeof(opcodes));
}

/* mov to ss holds back exceptions, the single step's among them. */
static bool masks_exceptions(const ZydisDecodedInstruction *insn)
{
	return insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && insn->opcode == 0x8e &&
	       insn->raw.modrm.reg == 2;
}

static bool is_16bit_branch(const ZydisDecodedInstruction *insn)
{
	return (insn->attributes & ZYDIS_ATTRIB_IS_RELATIVE) &&
	       insn->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE && has_prefix(insn, PREFIX_OPERAND_SIZE);
}

const char *probe_obstacle(const uint8_t *code, size_t size)
{
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;

	if (ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, code, size, &insn)))
		return "it does not begin with a valid instruction";
	if (insn.attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return "its first instruction has a lock prefix";
	if (has_refused_prefix(&insn))
		return "its first instruction has a segment prefix";
	if (has_refused_opcode(&insn))
		return "the kernel allows no probe on its first instruction";
	if (masks_exceptions(&insn))
		return "its first instruction delays exceptions";
	if (is_16bit_branch(&insn))
		return "its first instruction is a 16-bit branch";
	return NULL;
}

/* Since when the kernel replaces a probed five-byte nop. */
static bool kernel_calls_nop5(void)
{
	struct utsname host;
	unsigned major, minor;

	return uname(&host) || sscanf(host.release, "%u.%u", &major, &minor) != 2 || major > 6 ||
	       (major == 6 && minor >= 18);
}

/*
 * Where the file really lies, as it will stand in /proc/PID/maps; below /proc a link is followed by the
 * kernel only.
 */
static char *canonical_path(const char *path)
{
	char *real = strncmp(path, "/proc/", 6) ? realpath(path, NULL) : NULL;

	return real ? real : strdup(path);
}

int probe_init(struct probe *ret_probe, struct elf_file *file, uint64_t addr, const char *name)
{
	struct probe probe = {.addr = addr, .layout = arg_layout_within()};
	const char *obstacle;
	size_t size;

	if (site_off_nop5(file, addr, &probe.addr) && kernel_calls_nop5())
		return fail(-ENOTSUP,
			    "cannot probe %s in %s: there is a five-byte nop, which this kernel turns into "
			    "a call that kills forked children, and the code jumps to the instruction "
			    "after it; name another place",
			    name, elf_file_path(file));
	if (elf_file_offset(file, probe.addr, &probe.file_offset))
		return fail(-ENOEXEC, "%s has no code for %s: is it a separate debug file?",
			    elf_file_path(file), name);
	size = elf_file_read(file, probe.file_offset, probe.original, sizeof(probe.original));
	obstacle = probe_obstacle(probe.original, size);
	if (obstacle)
		return fail(-ENOTSUP, "cannot probe %s in %s: %s; name another place near it", name,
			    elf_file_path(file), obstacle);
	probe.path = canonical_path(elf_file_path(file));
	probe.symbol = elf_shown_name(name);
	if (!probe.path || !probe.symbol) {
		probe_release(&probe);
		return -ENOMEM;
	}
	*ret_probe = probe;
	return 0;
}

int probe_init_function(struct probe *ret_probe, struct elf_file *file, const struct elf_symbol *symbol)
{
	/* Of several names for one place, traces show one. */
	const struct elf_symbol *shown = elf_file_symbol_at(file, symbol->addr);
	struct probe probe;
	int err = probe_init(&probe, file, boundary_best_entry(file, symbol->addr), symbol->name);

	if (err)
		return err;
	probe.layout = arg_layout_of_function(file, symbol);
	probe.function = elf_shown_name(shown ? shown->name : symbol->name);
	if (!probe.function) {
		probe_release(&probe);
		return -ENOMEM;
	}
	*ret_probe = probe;
	return 0;
}

static int add_usdt_layout(struct probe *probe, struct elf_file *file, const struct elf_usdt *usdt)
{
	struct arg_layout *layout = calloc(1, sizeof(*layout));
	int err = layout ? arg_layout_of_usdt(layout, file, usdt) : -ENOMEM;

	if (err) {
		free(layout);
		return err;
	}
	probe->layout = probe->own_layout = layout;
	return 0;
}

int probe_init_usdt(struct probe *ret_probe, struct elf_file *file, const struct elf_usdt *usdt)
{
	char name[512];
	struct probe probe;
	int err;

	snprintf(name, sizeof(name), "usdt:%s:%s", usdt->provider, usdt->name);
	err = probe_init(&probe, file, usdt->addr, name);
	if (err)
		return err;
	if (usdt->semaphore && elf_file_offset(file, usdt->semaphore, &probe.ref_ctr_offset)) {
		probe_release(&probe);
		return fail(-ENOEXEC, "%s in %s has its semaphore outside of the file", name,
			    elf_file_path(file));
	}
	err = add_usdt_layout(&probe, file, usdt);
	if (err) {
		probe_release(&probe);
		return err;
	}
	*ret_probe = probe;
	return 0;
}

void probe_release(struct probe *probe)
{
	free(probe->own_layout);
	free(probe->path);
	free(probe->symbol);
	free(probe->function);
	*probe = (struct probe){0};
}

/* There a file that is changed becomes another one. Who has mapped it keeps that of the layer below. */
static bool has_layers(const char *path)
{
	struct statfs stats;

	return !statfs(path, &stats) && stats.f_type == OVERLAYFS_SUPER_MAGIC;
}

int probe_verify(const struct probe *probe, const uint8_t *code, size_t size)
{
	if (size && code[0] == ARCH_BREAKPOINT)
		return 0;
	if (has_layers(probe->path))
		return fail(
			-ENOTSUP,
			"the kernel has put no breakpoint on %s in %s, which lies on overlayfs: if the file "
			"was changed since the program began (chmod, touch, a write), the program has the "
			"one below it: name that one (lowerdir= in /proc/PID/mountinfo), or start the "
			"program again; if not, name another place near it",
			probe->symbol, probe->path);
	return fail(-ENOTSUP,
		    "the kernel has put no breakpoint on %s in %s: it cannot probe the instruction there "
		    "(%02x %02x %02x ...); name another place near it",
		    probe->symbol, probe->path, probe->original[0], probe->original[1], probe->original[2]);
}
