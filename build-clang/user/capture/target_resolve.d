build-clang/user/capture/target_resolve.o: user/capture/target_resolve.c \
  user/capture/target_resolve.h user/trigger/trigger.h \
  user/base/cleanup.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/trigger.h user/base/array.h \
  user/base/error.h user/probe/spec.h user/process/attach_check.h \
  user/process/maps.h user/model/sideband.h user/model/snapshot.h \
  bpf/alloc.h user/model/call.h user/model/sample.h \
  user/model/trace_params.h user/process/proc_status.h

user/capture/target_resolve.h:

user/trigger/trigger.h:

user/base/cleanup.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/trigger.h:

user/base/array.h:

user/base/error.h:

user/probe/spec.h:

user/process/attach_check.h:

user/process/maps.h:

user/model/sideband.h:

user/model/snapshot.h:

bpf/alloc.h:

user/model/call.h:

user/model/sample.h:

user/model/trace_params.h:

user/process/proc_status.h:
