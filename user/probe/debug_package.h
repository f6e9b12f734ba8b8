/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the Debian package with the symbols of a stripped file. */
#pragma once

/* dpkg's file lists, one for each package. */
#define DEBUG_PACKAGE_LISTS "/var/lib/dpkg/info"

/*
 * "gzip-dbgsym" for /usr/bin/gzip; the caller frees it. NULL: no package has the file, or this is not Debian.
 */
char *debug_package_find(const char *path, const char *lists);
