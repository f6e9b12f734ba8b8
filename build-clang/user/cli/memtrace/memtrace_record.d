build-clang/user/cli/memtrace/memtrace_record.o: \
  user/cli/memtrace/memtrace_record.c user/base/array.h \
  user/base/error.h user/base/log.h user/base/path.h \
  user/base/progress.h bpf/alloc_probe.h bpf/alloc.h bpf/usdt_arg.h \
  user/arch/x86_64/registers.h user/capture/capture.h \
  user/base/cleanup.h user/model/snapshot.h user/model/call.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/source/source.h user/model/sideband.h user/model/trigger.h \
  user/trigger/trigger.h user/cli/cli.h user/cli/front.h \
  user/cli/memtrace/memtrace.h user/heap/trace.h user/ctf/reader.h \
  user/ctf/event.h user/heap/filter.h user/cli/outputs.h \
  user/rebuild/decode.h user/decode/decoder.h user/model/branch.h \
  user/model/timeline.h user/model/symbol.h user/cli/talk.h \
  user/heap/recording.h user/output/output.h \
  user/source/alloc/recorder.h user/process/attach_check.h \
  user/process/command_line.h user/process/launch.h \
  user/process/program.h user/source/alloc/preload.h

user/base/array.h:

user/base/error.h:

user/base/log.h:

user/base/path.h:

user/base/progress.h:

bpf/alloc_probe.h:

bpf/alloc.h:

bpf/usdt_arg.h:

user/arch/x86_64/registers.h:

user/capture/capture.h:

user/base/cleanup.h:

user/model/snapshot.h:

user/model/call.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

bpf/hit_action.h:

user/model/sample.h:

user/model/trace_params.h:

user/source/source.h:

user/model/sideband.h:

user/model/trigger.h:

user/trigger/trigger.h:

user/cli/cli.h:

user/cli/front.h:

user/cli/memtrace/memtrace.h:

user/heap/trace.h:

user/ctf/reader.h:

user/ctf/event.h:

user/heap/filter.h:

user/cli/outputs.h:

user/rebuild/decode.h:

user/decode/decoder.h:

user/model/branch.h:

user/model/timeline.h:

user/model/symbol.h:

user/cli/talk.h:

user/heap/recording.h:

user/output/output.h:

user/source/alloc/recorder.h:

user/process/attach_check.h:

user/process/command_line.h:

user/process/launch.h:

user/process/program.h:

user/source/alloc/preload.h:
