/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the targets' code is, as samples_code_word() says: the kernel tells perf, and so us, of each mapping that
 * is made or changes its rights. User space says what was mapped before. More than there is does no harm. Only
 * bpf/samples.bpf.c includes this.
 */
#pragma once

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags;
	struct file *vm_file;
} __attribute__((preserve_access_index));

enum { MAY_EXECUTE = 4 /* VM_EXEC */, READ_IS_EXECUTE = 0x400000 /* READ_IMPLIES_EXEC */ };

__u64 code[SAMPLES_CODE_WORDS];

/*
 * Else all that may be an address is kept. So it is where the kernel does not tell, and of a JVM: a frame of its
 * interpreter has the method, which is no code.
 */
bool knows_code;

/* The highest bit: whether the address may be one of code. */
static __always_inline __u64 code_bit(__u64 address)
{
	return code[samples_code_word(address)] << (63 - samples_code_nth(address));
}

struct range {
	__u64 at, end;
};

static long put_code(__u32 nth, void *ctx)
{
	struct range *range = ctx;
	__u64 at = range->at;

	(void)nth;
	if (at >= range->end)
		return 1;
	__sync_fetch_and_or(&code[samples_code_word(at)], samples_code_bits(at, range->end));
	range->at = (at | (SAMPLES_CODE_PART - 1)) + 1;
	return 0;
}

static __always_inline bool is_jvm(const struct file *file)
{
	static const union {
		char text[16];
		__u64 words[2];
	} jvm = {.text = "libjvm.so"};
	struct dentry *dentry = NULL;
	const unsigned char *name = NULL;
	__u64 words[2] = {};

	READ(dentry, file->f_path.dentry);
	READ(name, dentry->d_name.name);
	bpf_probe_read_kernel_str(words, sizeof(words), name);
	return words[0] == jvm.words[0] && words[1] == jvm.words[1];
}

static __always_inline void put_range(__u64 begin, __u64 end)
{
	struct range range = {.at = begin, .end = end};

	bpf_loop(SAMPLES_CODE_WORDS + 1, put_code, &range, 0);
}

/* Once it has exec'd, too. */
static __always_inline bool may_be_target(void)
{
	__u32 pid = ids_here() >> 32;

	return bpf_map_lookup_elem(&targets, &pid);
}

/* (struct vm_area_struct *area), which is the running process's */
SEC("fentry/perf_event_mmap")
int on_map(__u64 *ctx)
{
	const struct vm_area_struct *area = (void *)ctx[0];

	if (!(area->vm_flags & MAY_EXECUTE) || !may_be_target())
		return 0;
	put_range(area->vm_start, area->vm_end);
	if (area->vm_file && is_jvm(area->vm_file))
		knows_code = 0;
	return 0;
}

enum { PROT_EXECUTE = 4, MOVE_FIXED = 2 /* MREMAP_FIXED */, ATTACH_EXECUTE = 0100000 /* SHM_EXEC */ };

const volatile struct {
	__s32 mmap, mprotect, pkey_mprotect, mremap, shmat, execve, execveat;
} map_calls;

struct vm_unmapped_area_info {
	unsigned long length;
} __attribute__((preserve_access_index));

static __always_inline const struct pt_regs *user_here(void)
{
	return (const struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

/* Perf is not told of code that is moved (mremap(2)). */
static __always_inline void put_moved(const struct pt_regs *user)
{
	if (user->r10 & MOVE_FIXED && code_bit(user->di) >> 63)
		put_range(user->r8, user->r8 + user->dx);
}

SEC("fentry/__x64_sys_mremap")
int on_move(__u64 *ctx)
{
	(void)ctx;
	if (may_be_target())
		put_moved(user_here());
	return 0;
}

/* ---- the same where functions of the kernel cannot be looked at: by what system calls ask for ---- */

/* (struct mm_struct *mm, bool write): mappings are about to change */
SEC("tp_btf/mmap_lock_start_locking")
int on_mapping(__u64 *ctx)
{
	const struct pt_regs *user;
	const struct file *file;
	__s32 nr;

	if (!(ctx[1] & 1) || !may_be_target())
		return 0;
	user = user_here();
	nr = syscall_of(user);
	if (nr == map_calls.mremap)
		put_moved(user);
	if ((nr != map_calls.mmap && nr != map_calls.mprotect && nr != map_calls.pkey_mprotect) ||
	    !(user->dx & PROT_EXECUTE))
		return 0;
	if (user->di)
		put_range(user->di, user->di + user->si);
	file = nr == map_calls.mmap ? file_of(bpf_get_current_task_btf(), (__s32)user->r8) : NULL;
	if (file && is_jvm(file))
		knows_code = 0;
	return 0;
}

/* (unsigned long address, struct vm_unmapped_area_info *info): room for a mapping was found */
SEC("tp_btf/vm_unmapped_area")
int on_area(__u64 *ctx)
{
	const struct vm_unmapped_area_info *info = (void *)ctx[1];
	const struct pt_regs *user;
	__s32 nr;

	if (!may_be_target())
		return 0;
	user = user_here();
	nr = syscall_of(user);
	if (nr == map_calls.execve || nr == map_calls.execveat ||
	    (nr == map_calls.mmap && user->dx & PROT_EXECUTE) ||
	    (nr == map_calls.shmat && user->dx & ATTACH_EXECUTE) ||
	    (nr == map_calls.mremap && code_bit(user->di) >> 63))
		put_range(ctx[0], ctx[0] + info->length);
	return 0;
}

/* Of the program itself, whose place is chosen otherwise. */
static __always_inline void put_program(const struct mm_struct *mm)
{
	if (mm)
		put_range(mm->start_code, mm->end_code);
}
