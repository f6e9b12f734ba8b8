/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Somebody else's uprobe, as any eBPF agent has them: on SYMBOL (or SYMBOL+BYTES) of FILE, in every process,
 * until standard input ends. "ready" says that it is there.
 *	foreign_probe FILE SYMBOL[+BYTES]
 * Or one that watches returns, for one process (0: for all), as a BPF link of the kind uprobe_multi or
 * uprobe_session:
 *	foreign_probe FILE SYMBOL[+BYTES] return|session PID
 */
#include <elf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t file_offset(const Elf64_Ehdr *elf, uint64_t addr)
{
	const Elf64_Phdr *segments = (const void *)((const char *)elf + elf->e_phoff);

	for (int i = 0; i < elf->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && addr - segments[i].p_vaddr < segments[i].p_filesz)
			return addr - segments[i].p_vaddr + segments[i].p_offset;
	return 0;
}

/* 0: there is none. */
static uint64_t symbol_offset(const Elf64_Ehdr *elf, char *name)
{
	const char *more = strchr(name, '+') ? strtok(name, "+") + strlen(name) + 1 : "0";
	const char *base = (const char *)elf;
	const Elf64_Shdr *sections = (const void *)(base + elf->e_shoff);

	for (int i = 0; i < elf->e_shnum; i++) {
		const Elf64_Sym *symbols = (const void *)(base + sections[i].sh_offset);
		const char *names = base + sections[sections[i].sh_link].sh_offset;

		if (sections[i].sh_type != SHT_SYMTAB && sections[i].sh_type != SHT_DYNSYM)
			continue;
		for (uint64_t j = 0; j < sections[i].sh_size / sizeof(*symbols); j++)
			if (symbols[j].st_shndx && !strcmp(names + symbols[j].st_name, name))
				return file_offset(elf, symbols[j].st_value + strtoul(more, NULL, 0));
	}
	return 0;
}

static uint32_t uprobe_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	unsigned int type = 0;

	if (!file || fscanf(file, "%u", &type) != 1)
		perror("the kernel has no uprobe events");
	return type;
}

/*
 * A BPF program that does nothing, linked. As in union bpf_attr of Linux 6.6. Stays until the process ends.
 */
static int link_returns(const char *file, uint64_t offset, int is_session, uint32_t pid)
{
	const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					   {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr program = {.prog_type = BPF_PROG_TYPE_KPROBE,
				  .insn_cnt = 2,
				  .insns = (uintptr_t)nothing,
				  .license = (uintptr_t) "GPL"};
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t cnt, uflags, pid, path_fd;
	} link = {.attach_type = is_session ? 57 : 48,
		  .path = (uintptr_t)file,
		  .offsets = (uintptr_t)&offset,
		  .cnt = 1,
		  .uflags = !is_session,
		  .pid = pid};
	long fd;

	program.expected_attach_type = link.attach_type;
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &program, sizeof(program));
	link.prog_fd = (uint32_t)fd;
	if (fd >= 0)
		fd = syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));
	if (fd < 0)
		perror("bpf");
	return fd < 0;
}

static int probe_all(struct perf_event_attr *attr)
{
	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		if (syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC) < 0) {
			perror("perf_event_open");
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 || argc == 5 ? open(argv[1], O_RDONLY) : -1;
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = uprobe_type(), .config1 = (uintptr_t)argv[1]};
	struct stat st;
	char word;
	void *elf;

	/* Shared: a private mapping would be patched, too. */
	elf = fd < 0 || fstat(fd, &st) ? MAP_FAILED
				       : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	attr.config2 = elf == MAP_FAILED ? 0 : symbol_offset(elf, argv[2]);
	if (!attr.config2) {
		fprintf(stderr, "%s has no such symbol\n", argv[1]);
		return 1;
	}
	if (argc == 5 ? link_returns(argv[1], attr.config2, !strcmp(argv[3], "session"),
				     (uint32_t)strtoul(argv[4], NULL, 0))
		      : probe_all(&attr))
		return 1;
	puts("ready");
	fflush(stdout);
	return read(0, &word, 1) < 0;
}
