/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the commands. Each command is a file below this folder and a row in main.c's table. */
#pragma once

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Exit statuses, as documented in trailcam(1). `run` has those of env(1), so that they stand apart from the
 * program's own.
 */
enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_RUN_FAILED = 125,
	STATUS_RUN_CANNOT_EXECUTE = 126,
	STATUS_RUN_NOT_FOUND = 127,
	STATUS_INTERRUPTED = 130,
};

int cmd_run(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_probes(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_memtrace(int argc, char **argv);

/*
 * argp_parse() with hints: for flags in magic-trace's spelling, and for misspelled long options, the message
 * names the right option. As with argp's own errors the program exits with argp_err_exit_status. Also answers
 * a shell's request for completions (cli/complete.h).
 */
void options_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/*
 * argp_error(3) for a sentence that quotes the user's words, which may be file names and so contain any bytes
 * (base/on_line.h).
 */
void usage_error(const struct argp_state *state, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints the sentence of a failure on stderr, and returns `status`. */
int report(int err, int status);

/* "64k", "4M", "1G" or plain bytes. 0, or -EINVAL with a sentence. */
int parse_size(const char *text, size_t *ret_size);

/*
 * The mean distance of sampled allocations, as a size: 1, or from 64 bytes to 1G. 0, or -EINVAL with a
 * sentence that names the option.
 */
int parse_alloc_interval(const char *option, const char *text, uint64_t *ret_bytes);

/* A non-negative integer. 0, or -EINVAL with a sentence that names the option. */
int parse_count(const char *option, const char *text, uint64_t *ret_cnt);

/* "5ms", "1.5s", "10us", "300ns": above 0. 0, or -EINVAL with a sentence that names the option. */
int parse_duration(const char *option, const char *text, uint64_t *ret_ns);

/*
 * The index of the text in `names`. 0, or -EINVAL with a sentence that names the option and all names.
 */
int parse_choice(const char *option, const char *text, const char *const names[], size_t cnt,
		 int *ret_choice);

/* Shows progress on stderr if that is a terminal: for decode_config. */
void show_progress(void *ctx, size_t done_bytes, size_t total_bytes);
