build-clang/user/cli/memtrace/memtrace_stats.o: \
  user/cli/memtrace/memtrace_stats.c user/base/array.h user/base/error.h \
  user/cli/cli.h user/cli/json.h user/cli/memtrace/memtrace.h \
  user/heap/trace.h user/ctf/reader.h user/base/cleanup.h \
  user/ctf/event.h user/heap/filter.h user/cli/terminal.h \
  user/heap/summary.h

user/base/array.h:

user/base/error.h:

user/cli/cli.h:

user/cli/json.h:

user/cli/memtrace/memtrace.h:

user/heap/trace.h:

user/ctf/reader.h:

user/base/cleanup.h:

user/ctf/event.h:

user/heap/filter.h:

user/cli/terminal.h:

user/heap/summary.h:
