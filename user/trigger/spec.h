/* SPDX-License-Identifier: BSD-2-Clause */
/* How a trigger is spelled: SYMBOL, or FILE:SYMBOL where FILE is a path or a library's name. */
#pragma once

struct trigger_spec {
	char *file;   /* NULL: the executable, or else the libraries it needs */
	char *symbol; /* perhaps with a version ("memcpy@GLIBC_2.14"), perhaps a C++ name ("ns::f(int)") */
};

/* Fills *ret_spec (release with trigger_spec_release()). -EINVAL with a sentence where a part is empty; -ENOMEM. */
int trigger_spec_parse(struct trigger_spec *ret_spec, const char *text);
void trigger_spec_release(struct trigger_spec *spec);
