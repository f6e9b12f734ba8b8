/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One file for one fetch by the Perfetto viewer: of the addresses that are not https, its page may only load
 * from SERVE_ORIGIN (as Perfetto's tools/open_trace_in_ui does).
 */
#pragma once

#include <stdbool.h>

#define SERVE_VIEWER "https://ui.perfetto.dev"
#define SERVE_HOST   "127.0.0.1:9001"
#define SERVE_ORIGIN "http://" SERVE_HOST

/* A socket that listens at SERVE_ORIGIN. -errno with a sentence: the port is in use. */
int serve_listen(int *ret_fd);

/*
 * Until the file `path` was fetched as SERVE_ORIGIN/NAME, or SIGINT or SIGTERM came, which the caller has
 * blocked. `name` is the end of a URL. 0, or -errno with a sentence.
 */
int serve_once(int listen_fd, const char *path, const char *name, bool *ret_interrupted);
