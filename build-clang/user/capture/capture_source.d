build-clang/user/capture/capture_source.o: user/capture/capture_source.c \
  user/base/array.h user/base/error.h user/base/log.h \
  user/capture/capture_internal.h user/capture/capture.h \
  user/base/cleanup.h user/model/snapshot.h bpf/alloc.h \
  user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/source/source.h user/model/sideband.h user/model/trigger.h \
  user/trigger/trigger.h user/capture/hit_stacks.h user/capture/idle.h \
  user/capture/sources.h user/probe/address_filters.h \
  user/probe/probe_map.h user/process/launch.h user/session/session.h \
  user/process/maps.h user/source/code_stores.h user/source/code_store.h \
  user/source/insn.h user/condition/condition.h

user/base/array.h:

user/base/error.h:

user/base/log.h:

user/capture/capture_internal.h:

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

user/capture/hit_stacks.h:

user/capture/idle.h:

user/capture/sources.h:

user/probe/address_filters.h:

user/probe/probe_map.h:

user/process/launch.h:

user/session/session.h:

user/process/maps.h:

user/source/code_stores.h:

user/source/code_store.h:

user/source/insn.h:

user/condition/condition.h:
