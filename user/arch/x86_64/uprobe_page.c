/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/x86_64/uprobe_page.h"

#include <string.h>

#include "base/array.h"

/*
 * A function with a return probe returns here; the system call (uretprobe) continues at the caller.
 */
static const uint8_t uretprobe[] = {
	0x50,					  /* push %rax */
	0x51,					  /* push %rcx */
	0x41, 0x53,				  /* push %r11 */
	0x48, 0xc7, 0xc0, 0x4f, 0x01, 0x00, 0x00, /* mov  $335, %rax */
	0x0f, 0x05,				  /* syscall */
	0x41, 0x5b,				  /* pop  %r11 */
	0x59,					  /* pop  %rcx */
	0xc3,					  /* ret */
};

/* A probed five-byte nop is replaced by a call of this one. */
static const uint8_t uprobe[] = {
	0x51,					  /* push %rcx */
	0x41, 0x53,				  /* push %r11 */
	0x50,					  /* push %rax */
	0x48, 0xc7, 0xc0, 0x50, 0x01, 0x00, 0x00, /* mov  $336, %rax */
	0x0f, 0x05,				  /* syscall */
	0x58,					  /* pop  %rax */
	0x41, 0x5b,				  /* pop  %r11 */
	0x59,					  /* pop  %rcx */
	0xc3,					  /* ret */
};

bool uprobe_page_is(const char *mapping_name)
{
	return !strncmp(mapping_name, "[uprobes", strlen("[uprobes"));
}

bool uprobe_page_fill(const char *mapping_name, uint8_t *page, size_t size)
{
	static const struct {
		const char *name;
		const uint8_t *code;
		size_t size;
	} pages[] = {
		{"[uprobes]", uretprobe, sizeof(uretprobe)},
		{"[uprobes-trampoline]", uprobe, sizeof(uprobe)},
	};
	enum { NOP = 0x90 };

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (strcmp(mapping_name, pages[i].name) || pages[i].size > size)
			continue;
		memset(page, NOP, size);
		memcpy(page, pages[i].code, pages[i].size);
		return true;
	}
	return false;
}
