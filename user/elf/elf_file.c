/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening a file, and the two ways to name a place in it: virtual addresses (what symbols and debug
 * information use) and file offsets (what mappings and uprobes use). They are converted by the program
 * headers, which stripped files have, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/error.h"
#include "elf/elf_internal.h"

/* The first bytes tell what is no ELF file for us; libelf is asked only then. */
static int check_ident(const char *path, int fd)
{
	unsigned char head[20];
	ssize_t size = pread(fd, head, sizeof(head), 0);

	if (size < 0)
		return fail_errno(-errno, "cannot read %s", path);
	if (size >= 2 && !memcmp(head, "#!", 2))
		return fail(-ENOEXEC, "%s is a script; name the interpreter instead", path);
	if (size < (ssize_t)sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
		return fail(-ENOEXEC, "%s is not an ELF file (a program or library)", path);
	if (head[EI_CLASS] == ELFCLASS32)
		return fail(-ENOTSUP,
			    "%s is a 32-bit program: only 64-bit " ARCH_NAME " programs can be traced", path);
	if (head[EI_DATA] != ELFDATA2LSB || (head[18] | head[19] << 8) != ARCH_ELF_MACHINE)
		return fail(-ENOTSUP, "%s is not for " ARCH_NAME " (ELF machine %d)", path,
			    head[18] | head[19] << 8);
	return 0;
}

static int read_loads(struct elf_file *file)
{
	size_t cnt;

	if (elf_kind(file->elf) != ELF_K_ELF || elf_getphdrnum(file->elf, &cnt))
		return fail(-ENOEXEC, "%s is a damaged ELF file: %s", file->path, elf_errmsg(-1));
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr load;

		if (!gelf_getphdr(file->elf, (int)i, &load))
			return fail(-ENOEXEC, "%s is a damaged ELF file: %s", file->path, elf_errmsg(-1));
		if (load.p_memsz > UINT64_MAX - load.p_vaddr)
			load.p_memsz = UINT64_MAX - load.p_vaddr;
		if (load.p_type == PT_LOAD && ARRAY_PUSH(file->loads, file->load_cnt, file->load_cap, load))
			return -ENOMEM;
	}
	return 0;
}

static void find_build_id(struct elf_file *file, const GElf_Phdr *segment)
{
	Elf_Data *data = elf_getdata_rawchunk(file->elf, (int64_t)segment->p_offset, segment->p_filesz,
					      segment->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t pos = 0, name_at, desc_at;
	GElf_Nhdr note;

	while (data && (pos = gelf_getnote(data, pos, &note, &name_at, &desc_at)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((char *)data->d_buf + name_at, "GNU", 4) || note.n_descsz > sizeof(file->build_id))
			continue;
		memcpy(file->build_id, (uint8_t *)data->d_buf + desc_at, note.n_descsz);
		file->build_id_size = note.n_descsz;
		return;
	}
}

static void read_build_id(struct elf_file *file)
{
	size_t cnt = 0;

	elf_getphdrnum(file->elf, &cnt);
	for (size_t i = 0; i < cnt && !file->build_id_size; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(file->elf, (int)i, &segment) && segment.p_type == PT_NOTE)
			find_build_id(file, &segment);
	}
}

/*
 * The kernel writes a uprobe, whoever's, into every private mapping of its file, which libelf's is. A shared
 * one takes its place. Where the file cannot be mapped libelf has read it, to no page's border.
 */
Elf *elf_map(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	size_t size = 0;
	char *base = elf && elf_kind(elf) == ELF_K_ELF ? elf_rawfile(elf, &size) : NULL;
	void *shared = base && !((uintptr_t)base % (uintptr_t)sysconf(_SC_PAGESIZE))
			       ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0)
			       : MAP_FAILED;

	if (shared != MAP_FAILED)
		mremap(shared, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, base);
	return elf;
}

int elf_file_open(struct elf_file **ret_file, const char *path)
{
	CLEANUP(elf_file_closep) struct elf_file *file = calloc(1, sizeof(*file));
	struct stat st;
	int err;

	if (!file)
		return -ENOMEM;
	file->fd = file->debug_fd = -1;
	file->path = strdup(path);
	if (!file->path)
		return -ENOMEM;
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return fail_errno(-errno, "cannot open %s", path);
	if (fstat(file->fd, &st) || !S_ISREG(st.st_mode))
		return fail(-ENOEXEC, "%s is not an ELF file (not a regular file)", path);
	err = check_ident(path, file->fd);
	if (err)
		return err;
	elf_version(EV_CURRENT);
	file->elf = elf_map(file->fd);
	if (!file->elf)
		return fail(-ENOEXEC, "%s is a damaged ELF file: %s", path, elf_errmsg(-1));
	err = read_loads(file);
	if (err)
		return err;
	read_build_id(file);
	*ret_file = TAKE_PTR(file);
	return 0;
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	elf_cfi_release(file);
	elf_source_release(file);
	if (file->debug)
		elf_end(file->debug);
	if (file->elf)
		elf_end(file->elf);
	closep(&file->debug_fd);
	free(file->minidebug);
	closep(&file->fd);
	for (size_t i = 0; i < file->name_cnt; i++)
		free(file->names[i]);
	free(file->names);
	free(file->symbols);
	free(file->ranges);
	free(file->handlers.items);
	free(file->landings);
	free(file->loads);
	free(file->path);
	free(file);
}

const char *elf_file_path(const struct elf_file *file)
{
	return file->path;
}

int elf_file_is_static(const struct elf_file *file)
{
	size_t cnt = 0;

	elf_getphdrnum(file->elf, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(file->elf, (int)i, &segment) && segment.p_type == PT_INTERP)
			return 0;
	}
	return 1;
}

int elf_file_is_go(const struct elf_file *file)
{
	GElf_Shdr header;

	return elf_section(file->elf, ".note.go.buildid", &header) ||
	       elf_section(file->elf, ".gopclntab", &header);
}

const uint8_t *elf_file_build_id(const struct elf_file *file, size_t *ret_size)
{
	*ret_size = file->build_id_size;
	return file->build_id_size ? file->build_id : NULL;
}

int elf_file_offset(const struct elf_file *file, uint64_t addr, uint64_t *ret_offset)
{
	for (size_t i = 0; i < file->load_cnt; i++) {
		const GElf_Phdr *load = &file->loads[i];

		if (addr < load->p_vaddr || addr - load->p_vaddr >= load->p_filesz)
			continue;
		*ret_offset = addr - load->p_vaddr + load->p_offset;
		return 0;
	}
	return -ERANGE;
}

/*
 * Whole pages are mapped: a segment begins with the page that holds its first byte. Executable segments come
 * first, since neighbours share a page of the file.
 */
int elf_file_addr(const struct elf_file *file, uint64_t offset, uint64_t *ret_addr)
{
	for (int executable = 1; executable >= 0; executable--) {
		for (size_t i = 0; i < file->load_cnt; i++) {
			const GElf_Phdr *load = &file->loads[i];
			uint64_t start = load->p_offset & ~0xfffull;

			if (!!(load->p_flags & PF_X) != executable || offset < start ||
			    (offset >= load->p_offset && offset - load->p_offset >= load->p_filesz))
				continue;
			*ret_addr = load->p_vaddr + (offset - load->p_offset);
			return 0;
		}
	}
	return -ERANGE;
}

const GElf_Phdr *elf_code_segment(const struct elf_file *file, uint64_t addr)
{
	for (size_t i = 0; i < file->load_cnt; i++) {
		const GElf_Phdr *load = &file->loads[i];

		if (load->p_flags & PF_X && addr >= load->p_vaddr && addr - load->p_vaddr < load->p_memsz)
			return load;
	}
	return NULL;
}

int elf_file_is_code(const struct elf_file *file, uint64_t addr)
{
	return elf_code_segment(file, addr) != NULL;
}

size_t elf_file_read(const struct elf_file *file, uint64_t offset, void *bytes, size_t size)
{
	ssize_t got = pread(file->fd, bytes, size, (off_t)offset);

	return got < 0 ? 0 : (size_t)got;
}

const uint8_t *elf_bytes_at(const struct elf_file *file, uint64_t addr, size_t *ret_size)
{
	size_t size;
	const uint8_t *raw = (const uint8_t *)elf_rawfile(file->elf, &size);
	uint64_t offset;

	if (!raw || elf_file_offset(file, addr, &offset) || offset >= size)
		return NULL;
	*ret_size = size - offset;
	return raw + offset;
}

Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *ret_header)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		const char *its;

		if (!gelf_getshdr(section, ret_header))
			continue;
		its = elf_strptr(elf, names, ret_header->sh_name);
		if (its && !strcmp(its, name))
			return section;
	}
	return NULL;
}
