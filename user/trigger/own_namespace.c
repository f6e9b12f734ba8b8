/* SPDX-License-Identifier: BSD-2-Clause */
#include "trigger/own_namespace.h"

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

/* The structure's, or that of void, which has no member. */
static uint32_t id_of(const struct btf *btf, const char *structure)
{
	int32_t id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);

	return id > 0 ? (uint32_t)id : 0;
}

static void find_numbers(struct own_namespace *own)
{
	CLEANUP(btf__freep) struct btf *btf = btf__load_vmlinux_btf();
	uint32_t task, pid, upid, common;

	if (!btf)
		return;
	task = id_of(btf, "task_struct");
	pid = id_of(btf, "pid");
	upid = id_of(btf, "upid");
	if (!find_member(btf, task, "thread_pid", &own->thread_pid) ||
	    !find_member(btf, task, "group_leader", &own->group_leader) ||
	    !find_member(btf, pid, "level", &own->level) ||
	    !find_member(btf, pid, "numbers", &own->numbers) || !find_member(btf, upid, "nr", &own->nr) ||
	    !find_member(btf, upid, "ns", &own->ns) ||
	    !find_member(btf, id_of(btf, "pid_namespace"), "ns", &common) ||
	    !find_member(btf, id_of(btf, "ns_common"), "inum", &own->inum))
		return;
	own->inum += common;
	own->upid_bytes = (uint32_t)btf__resolve_size(btf, upid);
}

/* The initial one's inode number is fixed (linux/proc_ns.h, PROC_PID_INIT_INO). */
static bool find_own(struct stat *ret_st)
{
	enum { PROC_PID_INIT_INO = 0xeffffffc - (1ll << 32) };

	return !stat("/proc/self/ns/pid", ret_st) && (uint32_t)ret_st->st_ino != (uint32_t)PROC_PID_INIT_INO;
}

bool in_own_namespace(void)
{
	struct stat st;

	return find_own(&st);
}

struct own_namespace own_namespace(void)
{
	struct own_namespace own = {0};
	struct stat st;

	if (!find_own(&st))
		return own;
	own.dev = st.st_dev;
	own.ino = st.st_ino;
	find_numbers(&own);
	return own;
}
