build-clang/user/doctor/trials.o: user/doctor/trials.c \
  user/base/cleanup.h user/base/error.h user/condition/condition.h \
  user/doctor/doctor.h user/process/launch.h user/session/session.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/snapshot.h \
  bpf/alloc.h user/model/call.h user/model/sample.h \
  user/model/trace_params.h user/process/maps.h user/model/sideband.h \
  user/source/code_stores.h user/source/code_store.h user/source/insn.h \
  user/source/pt/pt_caps.h user/source/source.h user/model/trigger.h \
  user/source/samples/samples.h user/source/samples/events.h \
  user/source/samples/ticks.h user/trigger/trigger.h

user/base/cleanup.h:

user/base/error.h:

user/condition/condition.h:

user/doctor/doctor.h:

user/process/launch.h:

user/session/session.h:

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

user/source/code_stores.h:

user/source/code_store.h:

user/source/insn.h:

user/source/pt/pt_caps.h:

user/source/source.h:

user/model/trigger.h:

user/source/samples/samples.h:

user/source/samples/events.h:

user/source/samples/ticks.h:

user/trigger/trigger.h:
