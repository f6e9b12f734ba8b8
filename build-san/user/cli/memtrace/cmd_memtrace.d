build-san/user/cli/memtrace/cmd_memtrace.o: \
 user/cli/memtrace/cmd_memtrace.c user/base/array.h user/cli/cli.h \
 user/cli/commands.h user/cli/complete.h user/cli/memtrace/memtrace.h \
 user/heap/trace.h user/ctf/reader.h user/base/cleanup.h user/ctf/event.h \
 user/heap/filter.h
user/base/array.h:
user/cli/cli.h:
user/cli/commands.h:
user/cli/complete.h:
user/cli/memtrace/memtrace.h:
user/heap/trace.h:
user/ctf/reader.h:
user/base/cleanup.h:
user/ctf/event.h:
user/heap/filter.h:
