build-san/user/cli/options_parse.o: user/cli/options_parse.c \
 user/base/log.h user/base/on_line.h user/cli/cli.h user/cli/complete.h \
 user/cli/magic_trace.h user/cli/option_table.h
user/base/log.h:
user/base/on_line.h:
user/cli/cli.h:
user/cli/complete.h:
user/cli/magic_trace.h:
user/cli/option_table.h:
