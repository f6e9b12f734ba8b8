build-clang/user/cli/outputs.o: user/cli/outputs.c user/cli/outputs.h \
  user/rebuild/decode.h user/base/cleanup.h user/decode/decoder.h \
  user/model/branch.h user/model/snapshot.h bpf/alloc.h \
  user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/model/timeline.h user/model/symbol.h user/base/array.h \
  user/base/error.h user/base/log.h user/base/progress.h user/cli/cli.h \
  user/input/fxt_read.h user/output/fxt_names.h user/output/sink.h \
  user/output/output.h user/recording/recording.h

user/cli/outputs.h:

user/rebuild/decode.h:

user/base/cleanup.h:

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

user/base/array.h:

user/base/error.h:

user/base/log.h:

user/base/progress.h:

user/cli/cli.h:

user/input/fxt_read.h:

user/output/fxt_names.h:

user/output/sink.h:

user/output/output.h:

user/recording/recording.h:
