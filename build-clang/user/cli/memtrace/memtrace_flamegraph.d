build-clang/user/cli/memtrace/memtrace_flamegraph.o: \
  user/cli/memtrace/memtrace_flamegraph.c user/base/error.h \
  user/base/log.h user/base/path.h user/base/reading.h user/cli/cli.h \
  user/cli/memtrace/memtrace.h user/heap/trace.h user/ctf/reader.h \
  user/base/cleanup.h user/ctf/event.h user/heap/filter.h \
  user/cli/outputs.h user/rebuild/decode.h user/decode/decoder.h \
  user/model/branch.h user/model/snapshot.h bpf/alloc.h \
  user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/model/timeline.h user/model/symbol.h user/heap/flamegraph.h \
  user/heap/tree.h user/output/output.h

user/base/error.h:

user/base/log.h:

user/base/path.h:

user/base/reading.h:

user/cli/cli.h:

user/cli/memtrace/memtrace.h:

user/heap/trace.h:

user/ctf/reader.h:

user/base/cleanup.h:

user/ctf/event.h:

user/heap/filter.h:

user/cli/outputs.h:

user/rebuild/decode.h:

user/decode/decoder.h:

user/model/branch.h:

user/model/snapshot.h:

bpf/alloc.h:

user/model/call.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/sample.h:

user/model/trace_params.h:

user/model/timeline.h:

user/model/symbol.h:

user/heap/flamegraph.h:

user/heap/tree.h:

user/output/output.h:
