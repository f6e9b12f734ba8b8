// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines "TID IP SP [lost]" (SP: behind it), as the step log has them. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

#include "internal.h"

enum { LOG_MAX = 6 << 20 };

static struct entry {
	u64 ip, sp;
	u32 tid;
	u32 lost;
} * entries;
static atomic_t entry_cnt;

void soft_pt_log(u64 ip, u64 sp, bool lost)
{
	int at = atomic_inc_return(&entry_cnt) - 1;

	if (at < LOG_MAX)
		entries[at] = (struct entry){.ip = ip, .sp = sp, .tid = current->pid, .lost = lost};
}

static void *at(loff_t pos)
{
	return pos < min(atomic_read(&entry_cnt), (int)LOG_MAX) ? &entries[pos] : NULL;
}

static void *start(struct seq_file *seq, loff_t *pos)
{
	return at(*pos);
}

static void *next(struct seq_file *seq, void *entry, loff_t *pos)
{
	return at(++*pos);
}

static void stop(struct seq_file *seq, void *entry)
{
}

/* The number and `after`, to where `end` is. */
static char *put(char *end, u64 value, unsigned int base, char after)
{
	*--end = after;
	do
		*--end = "0123456789abcdef"[value % base];
	while (value /= base);
	return end;
}

/* By hand: seq_printf() of millions of lines would be a third of what the machine does. */
static int show(struct seq_file *seq, void *ptr)
{
	struct entry *entry = ptr;
	char line[64], *end = line + sizeof(line), *begin;

	if (entry->lost)
		begin = put(memcpy(end - 5, "lost\n", 5), entry->sp, 16, ' ');
	else
		begin = put(end, entry->sp, 16, '\n');
	begin = put(put(begin, entry->ip, 16, ' '), entry->tid, 10, ' ');
	seq_write(seq, begin, end - begin);
	return 0;
}

static const struct seq_operations ops = {.start = start, .next = next, .stop = stop, .show = show};

static int open(struct inode *inode, struct file *file)
{
	return seq_open(file, &ops);
}

static ssize_t clear(struct file *file, const char __user *bytes, size_t size, loff_t *pos)
{
	atomic_set(&entry_cnt, 0);
	return size;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = open,
	.read = seq_read,
	.write = clear,
	.llseek = seq_lseek,
	.release = seq_release,
};

int soft_pt_log_init(void)
{
	entries = vmalloc(sizeof(*entries) * LOG_MAX);
	if (!entries)
		return -ENOMEM;
	debugfs_create_file("log", 0600, debugfs_create_dir("soft_pt", NULL), NULL, &fops);
	return 0;
}
