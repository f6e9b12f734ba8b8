/* SPDX-License-Identifier: BSD-2-Clause */
/* Which Debian package the symbols of a stripped file are in. */
#pragma once

/* The lists of files that dpkg keeps, one for each package. */
#define DEBUG_PACKAGE_LISTS "/var/lib/dpkg/info"

/*
 * "gzip-dbgsym" for /usr/bin/gzip, the caller's to free. NULL: no package has the file, or this is no Debian.
 */
char *debug_package_find(const char *path, const char *lists);
