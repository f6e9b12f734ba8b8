/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols show which of the kernel's memory is code: its text is between _stext and _etext; code of modules,
 * and generated code, is where their symbols are. Symbols have no size: a group is assumed to end some pages
 * after its last one.
 */
#include "source/pt/kernel_code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file/plain_file.h"
#include "base/sort.h"

enum { PAGE = 4096, BEHIND_LAST = 4 * PAGE, GROUP_GAP = 16 * PAGE, SEGMENTS_MAX = 4096 };

/* What is written and read of them, besides the core file. */
static const struct {
	const char *file, *name;
} texts[] = {{"kallsyms", KERNEL_NAMES}, {"modules", KERNEL_MODULES}};

static const char core_file[] = "kcore";

struct range {
	uint64_t begin, end;
};

static uint64_t page_down(uint64_t value)
{
	return value & ~(uint64_t)(PAGE - 1);
}

static uint64_t page_up(uint64_t value)
{
	return page_down(value + PAGE - 1);
}

struct range_list {
	struct range *items;
	size_t cnt, cap;
};

static void range_list_release(struct range_list *list)
{
	free(list->items);
}

/* What an ELF core file has where. */
struct segment {
	uint64_t addr, size, offset;
};

struct core {
	int fd;
	struct segment *segments;
	size_t cnt, cap;
};

static void core_release(struct core *core)
{
	closep(&core->fd);
	free(core->segments);
}

/* ---- core files ---- */

static int read_segments(struct core *core, const char *path)
{
	Elf64_Ehdr header;

	if (pread(core->fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_type != ET_CORE || header.e_phentsize != sizeof(Elf64_Phdr) ||
	    header.e_phnum > SEGMENTS_MAX)
		return fail(-EBADMSG, "%s is not a core file of a 64-bit kernel", path);
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		struct segment segment;
		Elf64_Phdr load;

		if (pread(core->fd, &load, sizeof(load), (off_t)(header.e_phoff + i * sizeof(load))) !=
		    sizeof(load))
			return fail(-EBADMSG, "%s is cut off", path);
		segment = (struct segment){load.p_vaddr, load.p_memsz, load.p_offset};
		if (load.p_type != PT_LOAD || load.p_vaddr + load.p_memsz < load.p_vaddr)
			continue;
		if (ARRAY_PUSH(core->segments, core->cnt, core->cap, segment))
			return -ENOMEM;
	}
	return 0;
}

static int core_open(struct core *core, const char *path)
{
	*core = (struct core){.fd = plain_file_open(path)};
	if (core->fd < 0)
		return -errno;
	return read_segments(core, path);
}

/* Reads what the file has of [addr, addr + size); returns how many bytes from addr on. */
static size_t core_read(const struct core *core, uint64_t addr, uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < core->cnt; i++) {
		const struct segment *segment = &core->segments[i];
		uint64_t at = addr - segment->addr;
		size_t part = size < segment->size - at ? size : segment->size - at, done = 0;

		if (at >= segment->size)
			continue;
		while (done < part) {
			ssize_t got = pread(core->fd, bytes + done, part - done,
					    (off_t)(segment->offset + at + done));

			if (got <= 0)
				break;
			done += (size_t)got;
		}
		return done;
	}
	return 0;
}

/* ---- names ---- */

/* A line of kallsyms: "ffffffff81000000 T _stext", with "\t[module]" behind it. */
struct symbol_line {
	uint64_t addr;
	char type;
	char name[512], module[64];
};

static bool parse_line(const char *text, struct symbol_line *ret_line)
{
	ret_line->module[0] = 0;
	return sscanf(text, "%lx %c %511s [%63[^]]", &ret_line->addr, &ret_line->type, ret_line->name,
		      ret_line->module) >= 3;
}

static bool is_code(const struct symbol_line *line)
{
	return strchr("tTwW", line->type) && arch_is_kernel(line->addr);
}

/* What is known of where code is while the names are read. */
struct survey {
	uint64_t text_begin, text_end;
	uint64_t *addrs; /* of symbols in modules, and of generated code */
	size_t cnt, cap;
	bool hidden;
};

static int note_symbol(struct survey *survey, const struct symbol_line *line)
{
	if (!strcmp(line->name, "_stext") && !line->module[0])
		survey->text_begin = line->addr;
	if (!strcmp(line->name, "_etext") && !line->module[0])
		survey->text_end = line->addr;
	return line->module[0] ? ARRAY_PUSH(survey->addrs, survey->cnt, survey->cap, line->addr) : 0;
}

/* The code's names, one line each as they were. */
static int read_names(struct survey *survey, FILE *from, FILE *to)
{
	CLEANUP(freep) char *text = NULL;
	struct symbol_line line;
	size_t cap = 0;
	int err = 0;

	survey->hidden = true;
	while (!err && getline(&text, &cap, from) > 0) {
		if (!parse_line(text, &line))
			continue;
		survey->hidden &= !line.addr;
		if (!is_code(&line))
			continue;
		fputs(text, to);
		err = note_symbol(survey, &line);
	}
	return err;
}

static int find_ranges(struct survey *survey, struct range_list *list)
{
	struct range text = {page_down(survey->text_begin), page_up(survey->text_end)};
	int err = text.begin < text.end ? ARRAY_PUSH(list->items, list->cnt, list->cap, text) : 0;

	sort_array(survey->addrs, survey->cnt, sizeof(*survey->addrs), sort_by_number);
	for (size_t i = 0; i < survey->cnt && !err; i++) {
		struct range *last = list->cnt ? &list->items[list->cnt - 1] : NULL;
		uint64_t begin = page_down(survey->addrs[i]);

		if (last && begin >= last->begin && begin <= last->end + GROUP_GAP) {
			if (last->end < begin + BEHIND_LAST)
				last->end = begin + BEHIND_LAST;
			continue;
		}
		err = ARRAY_PUSH(list->items, list->cnt, list->cap,
				 ((struct range){begin, begin + BEHIND_LAST}));
	}
	return err;
}

/* ---- copying ---- */

static int copy_range(struct snapshot *snapshot, const struct core *core, const struct range *range)
{
	size_t size = range->end - range->begin;
	uint8_t *bytes = malloc(size);

	if (!bytes)
		return -ENOMEM;
	size = core_read(core, range->begin, bytes, size);
	if (size)
		return snapshot_take_copy(snapshot, -1, range->begin, KERNEL_CODE, bytes, size);
	free(bytes);
	return 0;
}

static int copy_names(struct snapshot *snapshot, const char *proc, struct survey *survey)
{
	CLEANUP(freep) char *path = NULL;
	CLEANUP(fclosep) FILE *from = NULL;
	char *bytes = NULL;
	size_t size = 0;
	FILE *to;
	int err;

	if (asprintf(&path, "%s/kallsyms", proc) < 0)
		return -ENOMEM;
	from = fopen(path, "re");
	if (!from)
		return fail_errno(-errno, "cannot read the kernel's symbols from %s", path);
	to = open_memstream(&bytes, &size);
	if (!to)
		return -ENOMEM;
	err = read_names(survey, from, to);
	if (fclose(to) || err) {
		free(bytes);
		return -ENOMEM;
	}
	if (survey->hidden) {
		free(bytes);
		return fail(-EACCES, "the kernel hides its addresses from this user: --kernel needs root or "
				     "CAP_SYSLOG, or sysctl kernel.kptr_restrict=0");
	}
	return snapshot_take_copy(snapshot, -1, 0, KERNEL_NAMES, (uint8_t *)bytes, size);
}

/* perf compares them with the names. */
static int copy_modules(struct snapshot *snapshot, const char *proc)
{
	CLEANUP(freep) char *path = NULL;
	CLEANUP(fclosep) FILE *file = NULL;
	char *bytes = NULL;
	size_t cap = 0;
	ssize_t size;

	if (asprintf(&path, "%s/modules", proc) < 0)
		return -ENOMEM;
	file = fopen(path, "re");
	size = file ? getdelim(&bytes, &cap, 0, file) : 0;
	if (size > 0)
		return snapshot_take_copy(snapshot, -1, 0, KERNEL_MODULES, (uint8_t *)bytes, (size_t)size);
	free(bytes);
	return 0;
}

static void survey_release(struct survey *survey)
{
	free(survey->addrs);
}

int kernel_code_copy(struct snapshot *snapshot, const char *proc)
{
	CLEANUP(core_release) struct core core = {.fd = -1};
	CLEANUP(range_list_release) struct range_list ranges = {0};
	CLEANUP(survey_release) struct survey survey = {0};
	CLEANUP(freep) char *path = NULL;
	int err = asprintf(&path, "%s/kcore", proc) < 0 ? -ENOMEM : core_open(&core, path);

	if (err)
		return err == -ENOMEM || err == -EBADMSG
			       ? err
			       : fail_errno(err, "cannot read the kernel's code from %s", path);
	err = copy_names(snapshot, proc, &survey);
	if (!err)
		err = copy_modules(snapshot, proc);
	if (!err)
		err = find_ranges(&survey, &ranges);
	for (size_t i = 0; i < ranges.cnt && !err; i++)
		err = copy_range(snapshot, &core, &ranges.items[i]);
	return err;
}

/* ---- files ---- */

static int add_file(struct snapshot *snapshot, const char *path, const char *name,
		    const struct segment *segment)
{
	struct code_copy *copy = snapshot_add_copy(snapshot);

	if (!copy)
		return -ENOMEM;
	*copy = (struct code_copy){.pid = -1,
				   .addr = segment->addr,
				   .size = segment->size,
				   .file_offset = segment->offset,
				   .name = strdup(name),
				   .path = strdup(path)};
	return copy->name && copy->path ? 0 : -ENOMEM;
}

static int add_text(struct snapshot *snapshot, const char *dir, const char *file, const char *name)
{
	CLEANUP(freep) char *path = NULL;
	struct segment whole = {0};
	struct stat st;

	if (asprintf(&path, "%s/%s", dir, file) < 0)
		return -ENOMEM;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	whole.size = (uint64_t)st.st_size;
	return add_file(snapshot, path, name, &whole);
}

int kernel_code_read(struct snapshot *snapshot, const char *dir)
{
	CLEANUP(core_release) struct core core = {.fd = -1};
	CLEANUP(freep) char *path = NULL;
	int err = asprintf(&path, "%s/kcore", dir) < 0 ? -ENOMEM : core_open(&core, path);

	if (err)
		return err == -ENOENT || err == -ENOTDIR ? 0
		       : err == -ENOMEM || err == -EBADMSG
			       ? err
			       : fail_errno(err, "cannot read the kernel's code from %s", path);
	for (size_t i = 0; i < core.cnt && !err; i++)
		if (arch_is_kernel(core.segments[i].addr) && core.segments[i].size)
			err = add_file(snapshot, path, KERNEL_CODE, &core.segments[i]);
	for (size_t i = 0; i < ARRAY_SIZE(texts) && !err; i++)
		err = add_text(snapshot, dir, texts[i].file, texts[i].name);
	return err;
}

bool kernel_code_is_there(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->copy_cnt; i++)
		if (code_copy_is_kernel(&snapshot->copies[i]) && snapshot->copies[i].bytes)
			return true;
	return false;
}

static bool is_segment(const struct code_copy *copy)
{
	return copy->bytes && code_copy_is_kernel(copy) && !strcmp(copy->name, KERNEL_CODE);
}

static void write_core(FILE *file, const struct snapshot *snapshot)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = ARCH_ELF_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr)};
	uint64_t offset;

	for (size_t i = 0; i < snapshot->copy_cnt; i++)
		header.e_phnum += is_segment(&snapshot->copies[i]) && header.e_phnum < PN_XNUM - 1;
	offset = page_up(sizeof(header) + header.e_phnum * sizeof(Elf64_Phdr));
	fwrite(&header, sizeof(header), 1, file);
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		const struct code_copy *copy = &snapshot->copies[i];
		Elf64_Phdr load = {.p_type = PT_LOAD,
				   .p_flags = PF_R | PF_X,
				   .p_offset = offset,
				   .p_vaddr = copy->addr,
				   .p_filesz = copy->size,
				   .p_memsz = copy->size,
				   .p_align = PAGE};

		if (!is_segment(copy))
			continue;
		fwrite(&load, sizeof(load), 1, file);
		offset += page_up(copy->size);
	}
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		if (!is_segment(&snapshot->copies[i]))
			continue;
		fseeko(file, (off_t)page_up((uint64_t)ftello(file)), SEEK_SET);
		fwrite(snapshot->copies[i].bytes, 1, snapshot->copies[i].size, file);
	}
}

static void write_text(FILE *file, const struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot->copy_cnt; i++) {
		const struct code_copy *copy = &snapshot->copies[i];

		if (copy->bytes && code_copy_is_kernel(copy) && !strcmp(copy->name, name))
			fwrite(copy->bytes, 1, copy->size, file);
	}
}

/* `name` NULL: the core file. */
static int write_file(int dir_fd, const char *file_name, const struct snapshot *snapshot, const char *name)
{
	int fd = openat(dir_fd, file_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	int bad;

	if (!file)
		return -errno;
	if (name)
		write_text(file, snapshot, name);
	else
		write_core(file, snapshot);
	bad = ferror(file);
	if (fclose(file) || bad)
		return errno ? -errno : -EIO;
	return 0;
}

int kernel_code_write(const struct snapshot *snapshot, int dir_fd)
{
	int err = write_file(dir_fd, core_file, snapshot, NULL);

	for (size_t i = 0; i < ARRAY_SIZE(texts) && !err; i++)
		err = write_file(dir_fd, texts[i].file, snapshot, texts[i].name);
	return err;
}

bool kernel_code_is_file(const char *name)
{
	bool is_one = !strcmp(name, core_file);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		is_one |= !strcmp(name, texts[i].file);
	return is_one;
}

void kernel_code_remove(int dir_fd)
{
	unlinkat(dir_fd, core_file, 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		unlinkat(dir_fd, texts[i].file, 0);
}
