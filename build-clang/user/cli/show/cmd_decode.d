build-clang/user/cli/show/cmd_decode.o: user/cli/show/cmd_decode.c \
  user/cli/cli.h user/cli/talk.h user/base/error.h user/base/log.h \
  user/base/spill.h user/base/cleanup.h user/cli/outputs.h \
  user/rebuild/decode.h user/decode/decoder.h user/model/branch.h \
  user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
  user/model/trace_params.h user/model/timeline.h user/model/symbol.h

user/cli/cli.h:

user/cli/talk.h:

user/base/error.h:

user/base/log.h:

user/base/spill.h:

user/base/cleanup.h:

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
