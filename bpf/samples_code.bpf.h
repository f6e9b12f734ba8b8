/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the targets' code is, as samples_code_word() says: the kernel tells perf, and so us, of each mapping
 * that is made or changes its rights. User space says what was mapped before. More than there is does no
 * harm. Only bpf/samples.bpf.c includes this.
 */
#pragma once

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags;
	struct file *vm_file;
} __attribute__((preserve_access_index));

enum { ADDRESS_BITS = 47 };

enum { MAY_EXECUTE = 4 /* VM_EXEC */, READ_IS_EXECUTE = 0x400000 /* READ_IMPLIES_EXEC */ };

__u64 code[SAMPLES_CODE_WORDS];
__u64 code_changes; /* so often there was more of it */

/* Whether the kernel tells. Else all that may be an address is kept of each stack. */
bool knows_code;

/* Of some target it is in any case (SAMPLES_ALL_WORDS). */
bool some_keep_all;

/* The highest bit: whether the address may be one of code. Without branches. */
static __always_inline __u64 code_bit(__u64 address)
{
	__u64 beyond = address >> ADDRESS_BITS;

	asm volatile("" : "+r"(beyond)); /* else it becomes a branch */
	return code[samples_code_word(address)] << (63 - samples_code_nth(address)) & ~-beyond;
}

/* A target's, or what is one once it has exec'd; NULL: it is none. */
static __always_inline __u8 *may_be_target(void)
{
	__u32 pid = ids_here() >> 32;

	return bpf_map_lookup_elem(&targets, &pid);
}

static __always_inline bool keeps_all_words(__u32 pid)
{
	const __u8 *target = some_keep_all ? bpf_map_lookup_elem(&targets, &pid) : NULL;

	return target && *target & SAMPLES_ALL_WORDS;
}

static __always_inline void keep_all_words(__u8 *target)
{
	*target |= SAMPLES_ALL_WORDS;
	some_keep_all = 1;
}

struct range {
	__u64 at, end;
};

static long put_code(__u32 nth, void *ctx)
{
	struct range *range = ctx;
	__u64 at = range->at, bits = samples_code_bits(at, range->end);

	(void)nth;
	if (at >= range->end)
		return 1;
	if (bits & ~__sync_fetch_and_or(&code[samples_code_word(at)], bits))
		__sync_fetch_and_add(&code_changes, 1);
	range->at = (at | (SAMPLES_CODE_PART - 1)) + 1;
	return 0;
}

/* A frame of its interpreter has the method, which is no code. */
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

/*
 * The same, and user space is told if it may be the code of something else. A JIT compiler changes the rights
 * of the same memory again and again.
 */
static __always_inline void put_new_range(__u64 begin, __u64 end, bool of_file)
{
	__u64 changes = code_changes;

	put_range(begin, end);
	if (of_file || code_changes != changes)
		tell_life(bpf_get_current_task_btf(), SAMPLES_MAPPED, ids_here() >> 32);
}

/* (struct vm_area_struct *area), which is the running process's */
SEC("fentry/perf_event_mmap")
int on_map(__u64 *ctx)
{
	const struct vm_area_struct *area = (void *)ctx[0];
	__u8 *target = area->vm_flags & MAY_EXECUTE ? may_be_target() : NULL;

	if (!target)
		return 0;
	put_new_range(area->vm_start, area->vm_end, area->vm_file);
	if (area->vm_file && is_jvm(area->vm_file))
		keep_all_words(target);
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

/* Code that is moved, or that grows. */
static __always_inline bool moves_code(const struct pt_regs *user, struct range *ret_range)
{
	ret_range->at = user->r10 & MOVE_FIXED ? user->r8 : user->di;
	ret_range->end = ret_range->at + user->dx;
	return code_bit(user->di) >> 63;
}

/* Perf is not told of that. */
SEC("fentry/__x64_sys_mremap")
int on_move(__u64 *ctx)
{
	struct range range;

	(void)ctx;
	if (may_be_target() && moves_code(user_here(), &range))
		put_new_range(range.at, range.end, 0);
	return 0;
}

/* ---- the same where functions of the kernel cannot be looked at: by what system calls ask for ---- */

/*
 * Whether what the thread does leads to code, and where the system call wants it to be, if it says so; else
 * that is nowhere. Outside of system calls the kernel maps code of its own (uprobes').
 */
static __always_inline bool asks_for_code(const struct pt_regs *user, __u8 *target, struct range *ret_range)
{
	__s32 nr = syscall_of(user);

	*ret_range = (struct range){};
	if (nr == map_calls.mremap)
		return moves_code(user, ret_range);
	if (nr == map_calls.shmat) {
		/* How much it is the call does not say. */
		if (user->dx & ATTACH_EXECUTE && user->si)
			keep_all_words(target);
		return user->dx & ATTACH_EXECUTE;
	}
	if (nr == map_calls.mmap || nr == map_calls.mprotect || nr == map_calls.pkey_mprotect) {
		if (user->di)
			*ret_range = (struct range){user->di, user->di + user->si};
		return user->dx & PROT_EXECUTE;
	}
	return nr < 0 || nr == map_calls.execve || nr == map_calls.execveat;
}

/* (struct mm_struct *mm, bool write): mappings are about to change */
SEC("tp_btf/mmap_lock_start_locking")
int on_mapping(__u64 *ctx)
{
	__u8 *target = ctx[1] & 1 ? may_be_target() : NULL;
	const struct pt_regs *user;
	const struct file *file;
	struct range range;

	if (!target)
		return 0;
	user = user_here();
	if (!asks_for_code(user, target, &range))
		return 0;
	file = syscall_of(user) == map_calls.mmap ? file_of(bpf_get_current_task_btf(), (__s32)user->r8)
						  : NULL;
	put_new_range(range.at, range.end, file);
	if (file && is_jvm(file))
		keep_all_words(target);
	return 0;
}

/* (unsigned long address, struct vm_unmapped_area_info *info): room for a mapping was found */
SEC("tp_btf/vm_unmapped_area")
int on_area(__u64 *ctx)
{
	const struct vm_unmapped_area_info *info = (void *)ctx[1];
	__u8 *target = may_be_target();
	struct range range;

	if (target && asks_for_code(user_here(), target, &range))
		put_new_range(ctx[0], ctx[0] + info->length, 0);
	return 0;
}

/* ---- what is mapped at an address that the kernel chooses otherwise ---- */

/* The program itself, and the kernel's part of it. */
static __always_inline void put_program(const struct mm_struct *mm)
{
	const struct vdso_image *image;
	__u64 vdso = 0;

	if (!mm)
		return;
	put_range(mm->start_code, mm->end_code);
	image = mm->context.vdso_image;
	/* A number: of an address that a verifier knows for one it wants no sums. */
	bpf_probe_read_kernel(&vdso, sizeof(vdso), &mm->context.vdso);
	if (vdso && image)
		put_range(vdso, vdso + image->size);
}
