build-clang/user/session/session_detach.o: user/session/session_detach.c \
  user/process/proc_status.h user/session/session_internal.h \
  user/process/pin.h user/session/driver.h user/session/session.h \
  user/base/cleanup.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/snapshot.h bpf/alloc.h user/model/call.h \
  user/model/sample.h user/model/trace_params.h user/process/maps.h \
  user/model/sideband.h

user/process/proc_status.h:

user/session/session_internal.h:

user/process/pin.h:

user/session/driver.h:

user/session/session.h:

user/base/cleanup.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/snapshot.h:

bpf/alloc.h:

user/model/call.h:

user/model/sample.h:

user/model/trace_params.h:

user/process/maps.h:

user/model/sideband.h:
