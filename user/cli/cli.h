/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the commands. Each command is a file below this folder and a row in main.c's table. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/*
 * An option whose value is only stored: where in the parser's input. The type of the field says how: a switch
 * (bool), the text itself, or a count. OPTION_TIME() is for nanoseconds. A table ends with {0}.
 */
struct option_field {
	int key; /* of its argp_option */
	enum option_kind { OPTION_IS_SWITCH, OPTION_IS_TEXT, OPTION_IS_COUNT, OPTION_IS_TIME } kind;
	size_t offset;
};

#define OPTION_FIELD(key, type, member)                                                           \
	{                                                                                         \
		key,                                                                            \
			_Generic(((type *)0)->member, bool: OPTION_IS_SWITCH, const char *: OPTION_IS_TEXT, uint64_t: OPTION_IS_COUNT), \
			offsetof(type, member) \
	}
#define OPTION_TIME(key, type, member)                                                                \
	{                                                                                             \
		key, _Generic(((type *)0)->member, uint64_t : OPTION_IS_TIME), offsetof(type, member) \
	}

/*
 * Sets the field of `input` that is for the option with this key. 0, or ARGP_ERR_UNKNOWN: there is none. A
 * wrong value ends the program as argp_error() does.
 */
error_t option_fields_set(const struct option_field fields[], void *input, int key, char *arg,
			  const struct argp_state *state);

/* -v and -q: how many messages to print. A child of the argp of each command; it has no input. */
extern const struct argp talk_argp;

/* Prints the sentence of a failure on stderr, and returns `status`. */
int print_failure(int err, int status);

/*
 * Ends a command that has printed: if `err` is 0, it becomes that of standard output. Prints the sentence,
 * and returns STATUS_OK or STATUS_FAILED.
 */
int end_output(int err);

/* Steps that are all done, whatever fails. Starts as {0}. */
struct first_failure {
	int err;
	char *sentence;
};

/* Notes how a step ended: 0 or -errno. Keeps the first failure, and prints the sentence of a later one. */
void first_failure_note(struct first_failure *first, int err);

/* 0, or the first failure with its sentence. No step follows. */
int first_failure_end(struct first_failure *first);

/* "64k", "4M", "1G" or plain bytes. 0, or -EINVAL with a sentence. */
int parse_size(const char *text, size_t *ret_size);

/*
 * The mean distance of sampled allocations, as a size: 1, or from 64 bytes to 1G. 0, or -EINVAL with a
 * sentence that names the option.
 */
int parse_alloc_interval(const char *option, const char *text, uint64_t *ret_bytes);

/* A non-negative integer. 0, or -EINVAL with a sentence that names the option. */
int parse_count(const char *option, const char *text, uint64_t *ret_cnt);

/* The value of --pid. 0, or -EINVAL with a sentence. */
int parse_pid(const char *text, pid_t *ret_pid);

/* "5ms", "1.5s", "10us", "300ns": above 0. 0, or -EINVAL with a sentence that names the option. */
int parse_duration(const char *option, const char *text, uint64_t *ret_ns);

/*
 * The index of the text in `names`. 0, or -EINVAL with a sentence that names the option and all names.
 */
int parse_choice(const char *option, const char *text, const char *const names[], size_t cnt,
		 int *ret_choice);

/* Shows progress on stderr if that is a terminal: for decode_config. */
void show_progress(void *ctx, size_t done_bytes, size_t total_bytes);
