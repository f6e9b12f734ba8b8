/* SPDX-License-Identifier: BSD-2-Clause */
#include "trigger/own_namespace.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/btf.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(struct btf *, btf__free)

/* Of members of structures without a name, too. False: there is none. */
static bool find_member(const struct btf *btf, uint32_t id, const char *name, uint32_t *ret_bytes)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *member = &btf_members(type)[i];
		const char *member_name = btf__name_by_offset(btf, member->name_off);
		uint32_t bytes = btf_member_bit_offset(type, i) / 8, within = 0;

		if (strcmp(member_name, name) &&
		    (*member_name || !btf_is_composite(btf__type_by_id(btf, member->type)) ||
		     !find_member(btf, member->type, name, &within)))
			continue;
		*ret_bytes = bytes + within;
		return true;
	}
	return false;
}

static bool find(const struct btf *btf, const char *structure, const char *member, uint32_t *ret_bytes)
{
	int32_t id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);

	return id > 0 && find_member(btf, (uint32_t)id, member, ret_bytes);
}

static void find_numbers(struct own_namespace *own)
{
	CLEANUP(btf__freep) struct btf *btf = btf__load_vmlinux_btf();
	int32_t upid = btf ? btf__find_by_name_kind(btf, "upid", BTF_KIND_STRUCT) : -1;
	uint32_t common;

	if (upid <= 0 || !find(btf, "task_struct", "thread_pid", &own->thread_pid) ||
	    !find(btf, "task_struct", "group_leader", &own->group_leader) ||
	    !find(btf, "pid", "level", &own->level) || !find(btf, "pid", "numbers", &own->numbers) ||
	    !find(btf, "upid", "nr", &own->nr) || !find(btf, "upid", "ns", &own->ns) ||
	    !find(btf, "pid_namespace", "ns", &common) || !find(btf, "ns_common", "inum", &own->inum))
		return;
	own->inum += common;
	own->upid_bytes = (uint32_t)btf__resolve_size(btf, (uint32_t)upid);
}

/* The initial one's inode number is fixed (linux/proc_ns.h, PROC_PID_INIT_INO). */
struct own_namespace own_namespace(void)
{
	enum { PROC_PID_INIT_INO = 0xeffffffc - (1ll << 32) };
	struct own_namespace own = {0};
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || (uint32_t)st.st_ino == (uint32_t)PROC_PID_INIT_INO)
		return own;
	own.dev = st.st_dev;
	own.ino = st.st_ino;
	find_numbers(&own);
	return own;
}
