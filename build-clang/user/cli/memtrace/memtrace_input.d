build-clang/user/cli/memtrace/memtrace_input.o: \
  user/cli/memtrace/memtrace_input.c user/base/array.h user/base/error.h \
  user/base/log.h user/cli/cli.h user/cli/memtrace/memtrace.h \
  user/heap/trace.h user/ctf/reader.h user/base/cleanup.h \
  user/ctf/event.h user/heap/filter.h user/cli/talk.h

user/base/array.h:

user/base/error.h:

user/base/log.h:

user/cli/cli.h:

user/cli/memtrace/memtrace.h:

user/heap/trace.h:

user/ctf/reader.h:

user/base/cleanup.h:

user/ctf/event.h:

user/heap/filter.h:

user/cli/talk.h:
