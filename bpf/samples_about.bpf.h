/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a system call is about, read at the moment when it is made or waits: the file that the descriptor
 * stands for then, and how long it waits at most. Only bpf/samples.bpf.c includes this.
 */
#pragma once

enum { FAMILY_UNIX = 1, FAMILY_INET = 2, FAMILY_INET6 = 10 };
enum { TYPE_MASK = 0170000, TYPE_SOCKET = 0140000 };
enum { FUTEX_COMMAND = 127, FUTEX_WAIT = 0, FUTEX_WAIT_BITSET = 9, FUTEX_REALTIME = 256 };
enum { CLOCK_OF_RECORDS = 1 /* CLOCK_MONOTONIC */, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} __attribute__((preserve_access_index));

/* A pointer behind a pointer is loaded as the first field of a type that the kernel has. */
struct list_head {
	struct list_head *next;
} __attribute__((preserve_access_index));

struct files_struct {
	struct fdtable *fdt;
} __attribute__((preserve_access_index));

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
} __attribute__((preserve_access_index));

struct qstr {
	__u64 hash_len;
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
	__u64 words[2];
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

/* From Linux 6.2 on, BPF may follow a pointer by itself if it says to what: an instruction, and no call. */
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

const volatile bool has_cast;

#define LOAD(to, tag, from, field)                                                                        \
	do {                                                                                              \
		if (has_cast)                                                                             \
			(to) = ((struct tag *)bpf_rdonly_cast(from, bpf_core_type_id_kernel(struct tag))) \
				       ->field;                                                           \
		else                                                                                      \
			READ(to, (from)->field);                                                          \
	} while (0)

static __always_inline struct file *file_of(const struct task_struct *task, __s32 fd)
{
	struct files_struct *files = task->files;
	struct fdtable *table = files ? files->fdt : NULL;
	struct list_head *entry = NULL;

	if (table && fd >= 0 && (__u32)fd < table->max_fds)
		LOAD(entry, list_head, (const struct list_head *)(const void *)(table->fd + fd), next);
	return (struct file *)(void *)entry;
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

/*
 * The file's own name, then its directory's. What is behind no directory is a file that the kernel made up.
 */
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
	if ((about->record.about.mode & TYPE_MASK) == TYPE_SOCKET)
		return put_socket(about, file);
	return put_path(about, file);
}

/* ---- how long ---- */

static __always_inline __u64 argument(const struct pt_regs *user, __u32 nth)
{
	return nth == 0 ? user->di : nth == 2 ? user->dx : nth == 3 ? user->r10 : user->r8;
}

/* A time that ends then, on the thread's own CLOCK_MONOTONIC: its time namespace may have shifted that. */
static __always_inline __s64 time_until(const struct task_struct *task, __s64 end_ns, __u64 now)
{
	const struct nsproxy *proxy = task->nsproxy;
	const struct time_namespace *time = NULL;
	struct timespec64 shift = {};

	if (proxy && bpf_core_field_exists(proxy->time_ns))
		READ(time, proxy->time_ns);
	if (time)
		READ(shift, time->offsets.monotonic);
	end_ns -= shift.tv_sec * NS_PER_S + shift.tv_nsec;
	return end_ns > (__s64)now ? end_ns - (__s64)now : 0;
}

static __always_inline __s64 timeout_of(const struct task_struct *task, __u32 call,
					const struct pt_regs *user, __u64 now)
{
	__s64 time[2], ns;
	__u64 from;

	if (!(call & (SAMPLES_CALL_MS | SAMPLES_CALL_TIMESPEC | SAMPLES_CALL_TIMEVAL)))
		return SAMPLES_NO_TIMEOUT;
	from = argument(user, call >> SAMPLES_CALL_ARG);
	if (call & SAMPLES_CALL_MS)
		return (__s32)from < 0 ? SAMPLES_FOREVER : (__s64)(__s32)from * NS_PER_MS;
	if (!from)
		return SAMPLES_FOREVER;
	if (bpf_probe_read_user(time, sizeof(time), (void *)from))
		return SAMPLES_NO_TIMEOUT;
	ns = time[0] * NS_PER_S + (call & SAMPLES_CALL_TIMEVAL ? time[1] * 1000 : time[1]);
	if (call & SAMPLES_CALL_FUTEX && (user->si & FUTEX_COMMAND) != FUTEX_WAIT)
		return (user->si & FUTEX_COMMAND) == FUTEX_WAIT_BITSET && !(user->si & FUTEX_REALTIME)
			       ? time_until(task, ns, now)
			       : SAMPLES_NO_TIMEOUT;
	if (call & SAMPLES_CALL_SLEEP && user->si)
		return user->di == CLOCK_OF_RECORDS ? time_until(task, ns, now) : SAMPLES_NO_TIMEOUT;
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

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

/*
 * A thread's descriptor and its file, by what changes if its description does: that
 * takes much longer to read.
 */
struct identity {
	__u64 hash, inode;
	__u16 mode;
};

/* Of an address, as a number: from a pointer, which it may be to the verifier, it wants no more than half. */
static __always_inline __u64 half_of(const void *pointer)
{
	__u32 half;

	asm volatile("%0 = %1" : "=w"(half) : "w"((__u32)(__u64)pointer));
	return half;
}

static __always_inline __u64 mix_unix(__u64 hash, const struct sock *sk)
{
	const struct unix_sock *one = (const void *)sk;
	struct unix_address *name = NULL;
	struct sock *peer = NULL;

	if (!bpf_core_field_exists(one->addr))
		return hash;
	READ(name, one->addr);
	READ(peer, one->peer);
	hash = mix(mix(hash, (__u64)name), (__u64)peer);
	if (!name && peer)
		READ(name, ((const struct unix_sock *)(const void *)peer)->addr);
	return mix(hash, (__u64)name);
}

static __always_inline __u64 mix_ipv6(__u64 hash, const struct sock *sk)
{
	struct in6_addr own = {}, peer = {};

	if (!bpf_core_field_exists(sk->__sk_common.skc_v6_daddr))
		return hash;
	READ(own, sk->__sk_common.skc_v6_rcv_saddr);
	READ(peer, sk->__sk_common.skc_v6_daddr);
	hash = mix(mix(hash, own.words[0]), own.words[1]);
	return mix(mix(hash, peer.words[0]), peer.words[1]);
}

static __always_inline __u64 mix_socket(__u64 hash, const struct file *file)
{
	__u32 own_address = 0, peer_address = 0;
	__u16 family = 0, own_port = 0, peer_port = 0;
	struct socket *socket = NULL;
	struct sock *sk = NULL;
	__u8 state = 0;

	LOAD(socket, file, file, private_data);
	LOAD(sk, socket, socket, sk);
	if (!sk)
		return hash;
	LOAD(family, sock, sk, __sk_common.skc_family);
	LOAD(state, sock, sk, __sk_common.skc_state);
	LOAD(own_port, sock, sk, __sk_common.skc_num);
	LOAD(peer_port, sock, sk, __sk_common.skc_dport);
	LOAD(own_address, sock, sk, __sk_common.skc_rcv_saddr);
	LOAD(peer_address, sock, sk, __sk_common.skc_daddr);
	hash = mix(hash, half_of(sk));
	hash = mix(hash, (__u64)own_port << 48 | (__u64)peer_port << 32 | (__u32)family << 8 | state);
	hash = mix(hash, (__u64)own_address << 32 | peer_address);
	if (family == FAMILY_INET6)
		return mix_ipv6(hash, sk);
	return family == FAMILY_UNIX ? mix_unix(hash, sk) : hash;
}

static __always_inline __u64 mix_path(__u64 hash, const struct file *file)
{
	struct dentry *dentry = NULL, *parent = NULL;
	__u64 name = 0, parent_name = 0;

	LOAD(dentry, file, file, f_path.dentry);
	LOAD(parent, dentry, dentry, d_parent);
	LOAD(name, dentry, dentry, d_name.hash_len);
	LOAD(parent_name, dentry, parent, d_name.hash_len);
	return mix(mix(mix(hash, half_of(dentry) << 32 | half_of(parent)), name), parent_name);
}

static __always_inline struct identity identity_of(__u64 key, const struct file *file)
{
	struct identity identity = {};
	struct inode *inode = NULL;

	LOAD(inode, file, file, f_inode);
	LOAD(identity.mode, inode, inode, i_mode);
	LOAD(identity.inode, inode, inode, i_ino);
	identity.hash = mix(mix(mix(key, half_of(file)), half_of(inode)), identity.inode);
	identity.hash = (identity.mode & TYPE_MASK) == TYPE_SOCKET ? mix_socket(identity.hash, file)
								   : mix_path(identity.hash, file);
	return identity;
}

static __always_inline __u64 key_of(__u32 tid, __s32 fd)
{
	return mix(mix(secret, tid), (__u32)fd);
}

/* Where it is noted; NULL: never. */
static __always_inline struct told *told_of(__u64 key)
{
	__u32 nth = key % SAMPLES_TOLD;

	return bpf_map_lookup_elem(&told, &nth);
}

/* Another thread may write to the same place at the same time: the signature is of all that is there. */
static __always_inline __u64 sign(__u64 hash, __u64 at, __u32 cpu)
{
	return mix(mix(hash, at), cpu);
}

/* Whether what has this hash was told last, and stays in this ring for some time. */
static __always_inline bool is_told(const struct told *here, __u64 hash)
{
	__u32 cpu = bpf_get_smp_processor_id(), nth = place_of(cpu, SAMPLES_MOMENTS);
	const struct samples_head *head = bpf_map_lookup_elem(&heads, &nth);
	__u64 at = here->at;

	return head && here->cpu == cpu &&
	       head->head - at < ring_bytes[SAMPLES_MOMENTS] / SAMPLES_TELL_EVERY &&
	       here->signature == sign(hash, at, cpu);
}

static __always_inline void note_told(struct told *here, __u64 hash, __u64 at)
{
	__u32 cpu = bpf_get_smp_processor_id();

	*here = (struct told){.signature = sign(hash, at, cpu), .at = at, .cpu = cpu};
}

/* What the call is about, as `calls` has it; 0: nothing. */
static __always_inline __u32 call_of(__s32 nr)
{
	__u32 nth = (__u32)nr;

	if (nth >= SAMPLES_CALLS)
		return 0;
	asm volatile("" : "+r"(nth)); /* the verifier sees only what is done to it from here on */
	return calls[nth & (SAMPLES_CALLS - 1)];
}

/*
 * The thread `id`, as bpf_get_current_pid_tgid() has it, calls the kernel, or waits in that call. What flags
 * the record of that gets.
 */
static __noinline __u32 put_about(const struct task_struct *task, const struct pt_regs *user, __s32 nr,
				  __u64 now, __u64 id)
{
	__u32 call = call_of(nr), more = 0;
	struct identity identity = {};
	struct samples_about *about;
	struct told *here = NULL;
	bool is_known = 0;
	struct place place;
	struct file *file;
	__s64 timeout_ns;
	__u64 key;
	__s32 fd;

	if (!call)
		return 0;
	fd = descriptor(call, user);
	file = file_of(task, fd);
	timeout_ns = timeout_of(task, call, user, now);
	if (!file && timeout_ns < 0)
		return 0;
	if (file) {
		key = key_of((__u32)id, fd);
		identity = identity_of(key, file);
		here = told_of(key);
		is_known = here && is_told(here, identity.hash);
	}
	if (is_known && call & SAMPLES_CALL_FD && timeout_ns < 0)
		return timeout_ns == SAMPLES_FOREVER ? SAMPLES_KNOWN | SAMPLES_UNTIMED : SAMPLES_KNOWN;
	about = reserve(SAMPLES_MOMENTS, sizeof(*about), &place);
	if (!about)
		return 0;
	fill(&about->record, SAMPLES_ABOUT, id >> 32, (__u32)id, now);
	__builtin_memset(&about->record.about, 0, sizeof(about->record.about));
	about->record.about.fd = fd;
	about->record.about.timeout_ns = timeout_ns;
	about->record.about.mode = identity.mode;
	about->record.about.inode = identity.inode;
	if (is_known) {
		about->record.flags = SAMPLES_KNOWN;
	} else if (file) {
		__builtin_memset(about->more, 0, SAMPLES_ABOUT_MORE);
		more = put_file(about, file);
		if (here)
			note_told(here, identity.hash, place.at);
	}
	commit(&place, &about->record, sizeof(about->record) + more);
	return 0;
}
