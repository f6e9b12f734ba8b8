// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prefixes, opcode and ModRM tell all a branch trace must know (SDM vol. 2, appendix A). */
#include <linux/kernel.h>
#include <linux/uaccess.h>

#include "internal.h"

enum { INSN_BYTES = 15 };

static size_t read_code(u64 ip, u8 *bytes)
{
	size_t size = min_t(size_t, INSN_BYTES, PAGE_SIZE - (ip & (PAGE_SIZE - 1)));

	if (copy_from_user_nofault(bytes, (void __user *)ip, size))
		return 0;
	if (size < INSN_BYTES &&
	    !copy_from_user_nofault(bytes + size, (void __user *)(ip + size), INSN_BYTES - size))
		size = INSN_BYTES;
	return size;
}

bool soft_pt_is_mov_ss(u64 ip)
{
	u8 bytes[INSN_BYTES] = {0};

	return read_code(ip, bytes) >= 2 && bytes[0] == 0x8e && (bytes[1] & 0xf8) == 0xd0;
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

enum soft_kind soft_pt_classify(u64 ip, u64 *ret_next)
{
	u8 bytes[INSN_BYTES + 8] = {0};
	size_t size = read_code(ip, bytes), at = 0;
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
