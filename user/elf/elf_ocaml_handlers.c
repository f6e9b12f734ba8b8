/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OCaml's exception handlers. `try BODY with HANDLER` becomes (asmcomp/amd64/emit.mlp, asmcomp/linearize.ml):
 *
 *	pushtrap	lea  HANDLER(%rip), %r11	4c 8d 1d rel32
 *			push %r11			41 53
 *			push EXN(%r14)			41 ff 76 disp8
 *			mov  %rsp, EXN(%r14)		49 89 66 disp8
 *	BODY
 *	poptrap		pop  EXN(%r14); add $8, %rsp
 *			jmp  ...
 *	HANDLER		(entertrap)
 *
 * A raise takes the stack back to the last trap pushed and goes to its handler, without any call or return.
 * BODY lies between the two, so the calls of the run from pushtrap to HANDLER are those whose exceptions come
 * down at HANDLER. The runtime's caml_start_program does the same with %r13. No other compiler pushes in that
 * way.
 *
 * Jane Street's compiler writes the addresses down in a note, .note.ocaml_eh (owner "OCaml", type 1): u64
 * base, then three lists of u64 that end in 0: entertraps, pushtraps, poptraps; `base` is what .stapsdt.base
 * was when they were written. Traps nest: an entertrap is that of the last pushtrap before it which has none
 * yet.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "elf/elf_internal.h"

enum {
	LEA_BYTES = 7,
	PUSH_BYTES = 2,
	PUSH_EXN_BYTES = 4,
	PATTERN_BYTES = LEA_BYTES + PUSH_BYTES + PUSH_EXN_BYTES + 4,
	NOTE_TYPE = 1,
	PUSH_EXN = 0x76, /* the third byte of that push, the rarest of the three */
};

/* ---- the note ---- */

struct trap {
	uint64_t addr;
	bool enters;
};

static int compare_traps(const void *left, const void *right)
{
	const struct trap *a = left, *b = right;

	return ORDER_UP(a->addr, b->addr) ?: ORDER_DOWN(a->enters, b->enters);
}

static int pair_traps(struct trap *traps, size_t cnt, struct elf_handler_list *list)
{
	size_t open_cnt = 0;
	uint64_t *open = calloc(cnt + 1, sizeof(*open));
	int err = open ? 0 : -ENOMEM;

	sort_array(traps, cnt, sizeof(*traps), compare_traps);
	for (size_t i = 0; i < cnt && !err; i++) {
		struct elf_handler handler = {.end = traps[i].addr, .handler = traps[i].addr};

		if (!traps[i].enters) {
			open[open_cnt++] = traps[i].addr;
		} else if (open_cnt) {
			handler.start = open[--open_cnt];
			err = ARRAY_PUSH(list->items, list->cnt, list->cap, handler);
		}
	}
	free(open);
	return err;
}

/* One of the lists; its end, or NULL where it has none. */
static const uint8_t *read_list(const uint8_t *at, const uint8_t *end, uint64_t bias, bool enters,
				struct trap *traps, size_t *cnt)
{
	for (; at && end - at >= 8; at += 8) {
		uint64_t addr;

		memcpy(&addr, at, sizeof(addr));
		if (!addr)
			return at + 8;
		traps[(*cnt)++] = (struct trap){.addr = addr + bias, .enters = enters};
	}
	return NULL;
}

static int read_note(const struct elf_file *file, const uint8_t *desc, size_t size,
		     struct elf_handler_list *list)
{
	struct trap *traps = calloc(size / 8 + 1, sizeof(*traps));
	const uint8_t *end = desc + size, *at;
	GElf_Shdr base_header;
	uint64_t base, bias = 0;
	size_t cnt = 0;
	int err = traps ? 0 : -ENOMEM;

	if (!err && size >= 8) {
		memcpy(&base, desc, sizeof(base));
		if (elf_section(file->elf, ".stapsdt.base", &base_header))
			bias = base_header.sh_addr - base;
		at = read_list(desc + 8, end, bias, true, traps, &cnt);
		read_list(at, end, bias, false, traps, &cnt);
		err = pair_traps(traps, cnt, list);
	}
	free(traps);
	return err;
}

/* Whether there is a note is told by *ret_found. */
static int read_notes(const struct elf_file *file, struct elf_handler_list *list, bool *ret_found)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section(file->elf, ".note.ocaml_eh", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t at = 0, name, desc;
	GElf_Nhdr note;
	int err = 0;

	while (data && !err && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const uint8_t *bytes = data->d_buf;

		if (note.n_type != NOTE_TYPE || note.n_namesz != 6 || memcmp(bytes + name, "OCaml", 6) != 0)
			continue;
		*ret_found = true;
		err = read_note(file, bytes + desc, note.n_descsz, list);
	}
	return err;
}

/* ---- the code ---- */

static bool is_pushtrap(const uint8_t *at)
{
	uint8_t lea_reg = at[2], push_reg = at[LEA_BYTES + 1];
	const uint8_t *push_exn = at + LEA_BYTES + PUSH_BYTES, *store = push_exn + PUSH_EXN_BYTES;

	return at[0] == 0x4c && at[1] == 0x8d && at[LEA_BYTES] == 0x41 &&
	       ((lea_reg == 0x1d && push_reg == 0x53) || (lea_reg == 0x2d && push_reg == 0x55)) &&
	       push_exn[0] == 0x41 && push_exn[1] == 0xff && push_exn[2] == PUSH_EXN && store[0] == 0x49 &&
	       store[1] == 0x89 && store[2] == 0x66 && store[3] == store[-1];
}

static int scan(const uint8_t *code, size_t size, uint64_t addr, struct elf_handler_list *list)
{
	const size_t before = LEA_BYTES + PUSH_BYTES + 2;
	const uint8_t *at = code, *end = code + size;
	int err = 0;

	while (!err && (at = memchr(at, PUSH_EXN, (size_t)(end - at)))) {
		const uint8_t *lea = at - before;
		int32_t distance;
		struct elf_handler handler;

		at++;
		if (lea < code || end - lea < PATTERN_BYTES || !is_pushtrap(lea))
			continue;
		memcpy(&distance, lea + 3, sizeof(distance));
		handler.start = addr + (uint64_t)(lea - code) + PATTERN_BYTES;
		handler.handler = addr + (uint64_t)(lea - code) + LEA_BYTES + (uint64_t)(int64_t)distance;
		handler.end = handler.handler;
		if (handler.end > handler.start && handler.end <= addr + size)
			err = ARRAY_PUSH(list->items, list->cnt, list->cap, handler);
	}
	return err;
}

static int scan_code(const struct elf_file *file, struct elf_handler_list *list)
{
	size_t size;
	const uint8_t *raw = (const uint8_t *)elf_rawfile(file->elf, &size);
	int err = 0;

	for (size_t i = 0; raw && i < file->load_cnt && !err; i++) {
		const GElf_Phdr *load = &file->loads[i];

		if (load->p_flags & PF_X && load->p_offset <= size && load->p_filesz <= size - load->p_offset)
			err = scan(raw + load->p_offset, load->p_filesz, load->p_vaddr, list);
	}
	return err;
}

int elf_ocaml_handlers(const struct elf_file *file, struct elf_handler_list *list)
{
	bool found = false;
	int err = read_notes(file, list, &found);

	return err || found ? err : scan_code(file, list);
}
