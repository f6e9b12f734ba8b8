build-clang/user/cli/memtrace/memtrace_dump.o: \
  user/cli/memtrace/memtrace_dump.c user/base/array.h user/base/error.h \
  user/cli/cli.h user/cli/json.h user/cli/memtrace/memtrace.h \
  user/heap/trace.h user/ctf/reader.h user/base/cleanup.h \
  user/ctf/event.h user/heap/filter.h user/output/output.h \
  user/output/shown.h user/model/timeline.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/symbol.h

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

user/output/output.h:

user/output/shown.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/symbol.h:
