build-clang/user/cli/capture/trigger_options.o: \
  user/cli/capture/trigger_options.c user/cli/capture/trigger_options.h \
  user/capture/capture.h user/base/cleanup.h user/model/snapshot.h \
  bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/source/source.h user/model/sideband.h user/model/trigger.h \
  user/trigger/trigger.h user/base/array.h user/base/error.h \
  user/cli/cli.h user/condition/condition.h user/condition/prints.h

user/cli/capture/trigger_options.h:

user/capture/capture.h:

user/base/cleanup.h:

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

user/source/source.h:

user/model/sideband.h:

user/model/trigger.h:

user/trigger/trigger.h:

user/base/array.h:

user/base/error.h:

user/cli/cli.h:

user/condition/condition.h:

user/condition/prints.h:
