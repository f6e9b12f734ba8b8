// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prefixes, opcode and ModRM tell all a branch trace must know (SDM vol. 2, appendix A). */
#include <linux/kernel.h>
#include <linux/uaccess.h>

#include "internal.h"

void soft_pt_read_code(u64 ip, struct soft_code *ret_code)
{
	size_t size = min_t(size_t, SOFT_CODE_BYTES, PAGE_SIZE - (ip & (PAGE_SIZE - 1)));
	u8 *bytes = ret_code->bytes;

	memset(ret_code, 0, sizeof(*ret_code));
	if (copy_from_user_nofault(bytes, (void __user *)ip, size))
		return;
	if (size < SOFT_CODE_BYTES &&
	    !copy_from_user_nofault(bytes + size, (void __user *)(ip + size), SOFT_CODE_BYTES - size))
		size = SOFT_CODE_BYTES;
	ret_code->size = size;
}

bool soft_pt_is_mov_ss(const struct soft_code *code)
{
	return code->size >= 2 && code->bytes[0] == 0x8e && (code->bytes[1] & 0xf8) == 0xd0;
}

static bool is_prefix(u8 byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x40 ... 0x4f:
	case 0x64 ... 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	}
	return false;
}

static enum soft_kind kind_of_group5(u8 modrm)
{
	switch (modrm >> 3 & 7) {
	case 2:
		return SOFT_CALL_INDIRECT;
	case 3:
	case 4:
	case 5:
		return SOFT_INDIRECT;
	}
	return SOFT_OTHER;
}

enum soft_kind soft_pt_classify(u64 ip, const struct soft_code *code, u64 *ret_next)
{
	const u8 *bytes = code->bytes;
	size_t size = code->size, at = 0;
	int displacement;

	while (at < size && is_prefix(bytes[at]))
		at++;
	if (at >= size)
		return SOFT_OTHER;
	switch (bytes[at]) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		*ret_next = ip + at + 2;
		return SOFT_COND;
	case 0x0f:
		*ret_next = ip + at + 6;
		return bytes[at + 1] >= 0x80 && bytes[at + 1] <= 0x8f ? SOFT_COND : SOFT_OTHER;
	case 0xe8:
		memcpy(&displacement, bytes + at + 1, 4);
		return displacement ? SOFT_CALL : SOFT_CALL_NEXT;
	case 0xe9:
	case 0xeb:
		return SOFT_DIRECT;
	case 0xc2:
	case 0xc3:
		return SOFT_RETURN;
	case 0xca:
	case 0xcb:
	case 0xcf:
		return SOFT_INDIRECT;
	case 0xff:
		return kind_of_group5(bytes[at + 1]);
	}
	return SOFT_OTHER;
}
