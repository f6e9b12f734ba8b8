/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a system call is about, read at the moment when it is made or waits: the file that the descriptor stands
 * for then, and how long it waits at most. Only bpf/samples.bpf.c includes this.
 */
#pragma once

enum { FAMILY_UNIX = 1, FAMILY_INET = 2, FAMILY_INET6 = 10 };
enum { TYPE_MASK = 0170000, TYPE_SOCKET = 0140000, TYPE_PIPE = 0010000 };
enum { FUTEX_COMMAND = 127, FUTEX_WAIT = 0, FUTEX_WAIT_BITSET = 9, FUTEX_REALTIME = 256 };
enum { CLOCK_OF_RECORDS = 1 /* CLOCK_MONOTONIC */, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} __attribute__((preserve_access_index));

struct files_struct {
	struct fdtable *fdt;
} __attribute__((preserve_access_index));

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
} __attribute__((preserve_access_index));

struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
} __attribute__((preserve_access_index));

struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
	struct path f_path;
	void *private_data;
} __attribute__((preserve_access_index));

struct in6_addr {
	__u8 bytes[16];
};

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	unsigned char skc_state;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
} __attribute__((preserve_access_index));

struct sock {
	struct sock_common __sk_common;
} __attribute__((preserve_access_index));

struct socket {
	short type;
	struct sock *sk;
} __attribute__((preserve_access_index));

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[0];
} __attribute__((preserve_access_index));

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
} __attribute__((preserve_access_index));

#define READ(to, from) bpf_probe_read_kernel(&(to), sizeof(to), &(from))

static __always_inline struct file *file_of(const struct task_struct *task, __s32 fd)
{
	struct files_struct *files = task->files;
	struct fdtable *table = files ? files->fdt : NULL;
	struct file *file = NULL;

	if (table && fd >= 0 && (__u32)fd < table->max_fds)
		READ(file, table->fd[fd]);
	return file;
}

/* ---- names ---- */

/* The bytes of `more` that are used. */
static __always_inline __u32 put_unix(struct samples_about *about, const struct sock *sk)
{
	const struct unix_sock *one = (const void *)sk;
	struct unix_address *name = NULL;
	struct sock *peer = NULL;
	__s32 len = 0;

	if (!bpf_core_field_exists(one->addr))
		return 0;
	READ(name, one->addr);
	if (!name && !READ(peer, one->peer) && peer)
		READ(name, ((const struct unix_sock *)(const void *)peer)->addr);
	if (!name)
		return 0;
	READ(len, name->len);
	len -= sizeof(name->name->sun_family);
	if (len <= 0 || len >= SAMPLES_ABOUT_MORE)
		return 0;
	if (bpf_probe_read_kernel(about->more, len, name->name->sun_path))
		return 0;
	about->record.about.form = SAMPLES_FORM_UNIX;
	return SAMPLES_ABOUT_MORE;
}

static __always_inline __u32 put_socket(struct samples_about *about, const struct file *file)
{
	struct socket *socket = NULL;
	struct sock *sk = NULL;
	__be16 peer_port = 0;

	READ(socket, file->private_data);
	READ(sk, socket->sk);
	READ(about->record.about.type, socket->type);
	if (!sk)
		return 0;
	READ(about->record.about.family, sk->__sk_common.skc_family);
	READ(about->record.about.state, sk->__sk_common.skc_state);
	if (about->record.about.family == FAMILY_UNIX)
		return put_unix(about, sk);
	if (about->record.about.family != FAMILY_INET && about->record.about.family != FAMILY_INET6)
		return 0;
	READ(about->record.about.own_port, sk->__sk_common.skc_num);
	READ(peer_port, sk->__sk_common.skc_dport);
	about->record.about.peer_port = __builtin_bswap16(peer_port);
	if (about->record.about.family == FAMILY_INET) {
		about->record.about.form = SAMPLES_FORM_IPV4;
		bpf_probe_read_kernel(about->more, 4, &sk->__sk_common.skc_rcv_saddr);
		bpf_probe_read_kernel(about->more + 4, 4, &sk->__sk_common.skc_daddr);
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		about->record.about.form = SAMPLES_FORM_IPV6;
		bpf_probe_read_kernel(about->more, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_probe_read_kernel(about->more + 16, 16, &sk->__sk_common.skc_v6_daddr);
	}
	return SAMPLES_COMPONENT;
}

/* The file's own name, then its directory's. What is behind no directory is a file that the kernel made up. */
static __always_inline __u32 put_path(struct samples_about *about, const struct file *file)
{
	struct dentry *dentry = NULL, *parent = NULL, *beyond = NULL;
	const unsigned char *name = NULL;
	long len;

	READ(dentry, file->f_path.dentry);
	READ(parent, dentry->d_parent);
	READ(name, dentry->d_name.name);
	len = bpf_probe_read_kernel_str(about->more, SAMPLES_COMPONENT, name);
	if (len <= 1 || len > SAMPLES_COMPONENT)
		return 0;
	about->record.about.form = parent == dentry ? SAMPLES_FORM_ANONYMOUS : SAMPLES_FORM_PATH;
	if (parent == dentry)
		return SAMPLES_COMPONENT;
	READ(beyond, parent->d_parent);
	READ(name, parent->d_name.name);
	if (beyond != parent)
		len += bpf_probe_read_kernel_str(about->more + len, SAMPLES_COMPONENT, name);
	return len < SAMPLES_COMPONENT ? SAMPLES_COMPONENT : SAMPLES_ABOUT_MORE;
}

static __always_inline __u32 put_file(struct samples_about *about, const struct file *file)
{
	struct inode *inode = NULL;

	READ(inode, file->f_inode);
	READ(about->record.about.mode, inode->i_mode);
	READ(about->record.about.inode, inode->i_ino);
	if ((about->record.about.mode & TYPE_MASK) == TYPE_SOCKET)
		return put_socket(about, file);
	return put_path(about, file);
}

/* ---- how long ---- */

static __always_inline __u64 argument(const struct pt_regs *user, __u32 nth)
{
	return nth == 0 ? user->di : nth == 2 ? user->dx : nth == 3 ? user->r10 : user->r8;
}

/* A time that ends then, on the clock of the records. */
static __always_inline __s64 time_until(__s64 end_ns, __u64 now)
{
	return end_ns > (__s64)now ? end_ns - (__s64)now : 0;
}

static __always_inline __s64 timeout_of(__u32 call, const struct pt_regs *user, __u64 now)
{
	__u64 from = argument(user, call >> SAMPLES_CALL_ARG);
	__s64 time[2], ns;

	if (call & SAMPLES_CALL_MS)
		return (__s32)from < 0 ? SAMPLES_FOREVER : (__s64)(__s32)from * NS_PER_MS;
	if (!(call & (SAMPLES_CALL_TIMESPEC | SAMPLES_CALL_TIMEVAL)))
		return SAMPLES_NO_TIMEOUT;
	if (!from)
		return SAMPLES_FOREVER;
	if (bpf_probe_read_user(time, sizeof(time), (void *)from))
		return SAMPLES_NO_TIMEOUT;
	ns = time[0] * NS_PER_S + (call & SAMPLES_CALL_TIMEVAL ? time[1] * 1000 : time[1]);
	if (call & SAMPLES_CALL_FUTEX && (user->si & FUTEX_COMMAND) != FUTEX_WAIT)
		return (user->si & FUTEX_COMMAND) == FUTEX_WAIT_BITSET && !(user->si & FUTEX_REALTIME)
			       ? time_until(ns, now)
			       : SAMPLES_NO_TIMEOUT;
	if (call & SAMPLES_CALL_SLEEP && user->si)
		return user->di == CLOCK_OF_RECORDS ? time_until(ns, now) : SAMPLES_NO_TIMEOUT;
	return ns;
}

/* ---- all of it ---- */

static __always_inline __s32 descriptor(__u32 call, const struct pt_regs *user)
{
	__s32 fd = -1;

	if (call & SAMPLES_CALL_FD)
		return (__s32)user->di;
	if (call & SAMPLES_CALL_POLL && user->si)
		bpf_probe_read_user(&fd, sizeof(fd), (void *)user->di);
	return fd;
}

/* ---- what was told before ---- */

struct told {
	__u64 signature, at;
	__u32 cpu;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SAMPLES_TOLD);
	__type(key, __u32);
	__type(value, struct told);
} told SEC(".maps");

enum { WORD = sizeof(__u64) };

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

/*
 * Whether all but the timeout is what was told last of this thread's descriptor, and stays in this ring for some
 * time. Else it will have been told now. Another thread may write to the same place at the same time: the
 * signature is of all that is there.
 */
static __always_inline bool is_told(const struct samples_about *about, const struct place *place)
{
	const __u64 *words = (const __u64 *)&about->record.about, *more = (const __u64 *)about->more;
	__u64 hash = mix(mix(secret, about->record.tid), (__u32)about->record.about.fd);
	__u32 nth = hash % SAMPLES_TOLD, cpu = bpf_get_smp_processor_id();
	struct told *here = bpf_map_lookup_elem(&told, &nth);

	if (!here)
		return 0;
#pragma unroll
	for (__u32 i = 1; i < sizeof(about->record.about) / WORD; i++)
		hash = mix(hash, words[i]);
#pragma unroll
	for (__u32 i = 0; i < SAMPLES_ABOUT_MORE / WORD; i++)
		hash = mix(hash, more[i]);
	if (here->signature == mix(mix(hash, here->at), here->cpu) && here->cpu == cpu &&
	    place->at - here->at < ring_bytes[SAMPLES_MOMENTS] / SAMPLES_TELL_EVERY)
		return 1;
	*here = (struct told){.signature = mix(mix(hash, place->at), cpu), .at = place->at, .cpu = cpu};
	return 0;
}

/*
 * The thread `id`, as bpf_get_current_pid_tgid() has it, calls the kernel, or waits in that call. What flags the
 * record of that gets.
 */
static __noinline __u32 put_about(const struct task_struct *task, const struct pt_regs *user, __s32 nr,
				  __u64 now, __u64 id)
{
	__u32 nth = (__u32)nr, call, more = 0;
	struct samples_about *about;
	struct place place;
	struct file *file;
	__s64 timeout_ns;
	__s32 fd;

	if (nth >= SAMPLES_CALLS)
		return 0;
	asm volatile("" : "+r"(nth)); /* the verifier sees only what is done to it from here on */
	call = calls[nth & (SAMPLES_CALLS - 1)];
	if (!call)
		return 0;
	fd = descriptor(call, user);
	file = file_of(task, fd);
	timeout_ns = timeout_of(call, user, now);
	if (!file && timeout_ns < 0)
		return 0;
	about = reserve(SAMPLES_MOMENTS, sizeof(*about), &place);
	if (!about)
		return 0;
	fill(&about->record, SAMPLES_ABOUT, id >> 32, (__u32)id, now);
	__builtin_memset(&about->record.about, 0, sizeof(about->record.about));
	about->record.about.fd = fd;
	about->record.about.timeout_ns = timeout_ns;
	if (file) {
		__builtin_memset(about->more, 0, SAMPLES_ABOUT_MORE);
		more = put_file(about, file);
	}
	if (file && is_told(about, &place)) {
		if (call & SAMPLES_CALL_FD && timeout_ns < 0 && give_back(&place, 0))
			return timeout_ns == SAMPLES_FOREVER ? SAMPLES_KNOWN | SAMPLES_UNTIMED
							     : SAMPLES_KNOWN;
		about->record.flags = SAMPLES_KNOWN;
		more = 0;
	}
	commit(&place, &about->record, sizeof(about->record) + more);
	return 0;
}
