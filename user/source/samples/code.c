/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel tells perf of each mapping of code in one function, perf_event_mmap(), which BPF looks at where
 * it may (ftrace). Where it may not, tracepoints show what system calls ask for. A list of mappings that is
 * read now and then would not do: a stack may lead into code that was mapped just before.
 */
#include "source/samples/code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "bpf/samples.h"
#include "bpf/samples.skel.h"
#include "process/maps.h"
#include "source/jvm_code.h"

/* Whether the kernel lets BPF look at that function of its own: not each does. */
static bool can_look_at(const char *function)
{
	const struct bpf_insn insns[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
	int id = libbpf_find_vmlinux_btf_id(function, BPF_TRACE_FENTRY), fd;
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = (uint32_t)id);

	if (id <= 0)
		return false;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", insns, ARRAY_SIZE(insns), &options);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* So many arguments a tracepoint has; 0: there is none. */
static uint32_t tracepoint_args(const struct btf *btf, const char *name)
{
	CLEANUP(freep) char *type_name = NULL;
	const struct btf_type *type;
	int id = asprintf(&type_name, "btf_trace_%s", name) < 0
			 ? -ENOMEM
			 : btf__find_by_name_kind(btf, type_name, BTF_KIND_TYPEDEF);

	if (id <= 0)
		return 0;
	type = btf__type_by_id(btf, btf__type_by_id(btf, (uint32_t)id)->type); /* the pointer */
	type = btf__type_by_id(btf, type->type);
	return btf_vlen(type) - 1; /* the first is the program's own */
}

/* Before Linux 6.13 the tracepoint of the lock names a group, which takes long. */
void samples_code_set_up(struct samples_bpf *bpf)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool looks = can_look_at("perf_event_mmap") && can_look_at("__x64_sys_mremap"),
	     sees_areas = btf && tracepoint_args(btf, "vm_unmapped_area") == 2,
	     asks = !looks && sees_areas && tracepoint_args(btf, "mmap_lock_start_locking") == 2;

	bpf->rodata->has_cast = btf && btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	btf__free(btf);
	bpf_program__set_autoload(bpf->progs.on_map, looks);
	bpf_program__set_autoload(bpf->progs.on_move, looks);
	bpf_program__set_autoload(bpf->progs.on_mapping, asks);
	bpf_program__set_autoload(bpf->progs.on_area, sees_areas);
	bpf->rodata->map_calls.mmap = SYS_mmap;
	bpf->rodata->map_calls.mprotect = SYS_mprotect;
	bpf->rodata->map_calls.pkey_mprotect = SYS_pkey_mprotect;
	bpf->rodata->map_calls.mremap = SYS_mremap;
	bpf->rodata->map_calls.shmat = SYS_shmat;
	bpf->rodata->map_calls.execve = SYS_execve;
	bpf->rodata->map_calls.execveat = SYS_execveat;
}

static void put_code(struct samples_bpf *bpf, uint64_t begin, uint64_t end)
{
	for (uint64_t at = begin; at < end; at = (at | (SAMPLES_CODE_PART - 1)) + 1)
		__atomic_fetch_or(&bpf->bss->code[samples_code_word(at)], samples_code_bits(at, end),
				  __ATOMIC_RELAXED);
	__atomic_fetch_add(&bpf->bss->code_changes, 1, __ATOMIC_RELAXED);
}

void samples_code_attach(struct samples_bpf *bpf)
{
	struct {
		const struct bpf_program *program;
		struct bpf_link **link;
	} const all[] = {{bpf->progs.on_map, &bpf->links.on_map},
			 {bpf->progs.on_move, &bpf->links.on_move},
			 {bpf->progs.on_mapping, &bpf->links.on_mapping},
			 {bpf->progs.on_area, &bpf->links.on_area}};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		*all[i].link =
			bpf_program__autoload(all[i].program) ? bpf_program__attach(all[i].program) : NULL;
	bpf->bss->knows_code =
		bpf->links.on_area && (bpf->links.on_mapping || (bpf->links.on_map && bpf->links.on_move));
	/* It appears at a thread's first hit. */
	put_code(bpf, UPROBE_PAGE, UPROBE_PAGE + SAMPLES_CODE_UNIT);
	log_debug("BPF is told of new code by %s", bpf->links.on_map	  ? "perf_event_mmap()"
						   : bpf->bss->knows_code ? "system calls"
									  : "nobody");
}

static void keep_all_words(struct samples_bpf *bpf, pid_t pid)
{
	const uint8_t value = SAMPLES_TARGET | SAMPLES_ALL_WORDS;
	const uint32_t key = (uint32_t)pid;

	bpf->bss->some_keep_all = true;
	if (bpf_map_update_elem(bpf_map__fd(bpf->maps.targets), &key, &value, BPF_EXIST))
		log_debug("process %d is no target any more", (int)pid);
}

void samples_code_find(struct samples_bpf *bpf, pid_t pid)
{
	CLEANUP(maps_release) struct maps maps = {0};
	int err = maps_read(&maps, pid);

	for (size_t i = 0; i < maps.cnt; i++)
		put_code(bpf, maps.items[i].mapping.addr,
			 maps.items[i].mapping.addr + maps.items[i].mapping.size);
	if ((err && err != -ENOENT && err != -ESRCH) || jvm_code_library(&maps))
		keep_all_words(bpf, pid);
}
