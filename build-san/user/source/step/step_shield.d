build-san/user/source/step/step_shield.o: user/source/step/step_shield.c \
 user/process/inject.h user/process/proc_status.h \
 user/source/step/step_hide.h user/source/step/step_thread.h \
 user/session/driver.h user/session/session.h user/base/cleanup.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h bpf/hit_action.h user/model/snapshot.h \
 bpf/alloc.h user/model/call.h user/model/sample.h \
 user/model/trace_params.h user/process/maps.h user/model/sideband.h \
 user/source/code_store.h user/source/insn.h user/source/encoder.h \
 user/source/aux_ring.h user/source/step/step_internal.h \
 user/process/shield.h user/source/code_stores.h user/source/source.h \
 user/model/trigger.h
user/process/inject.h:
user/process/proc_status.h:
user/source/step/step_hide.h:
user/source/step/step_thread.h:
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
user/source/code_store.h:
user/source/insn.h:
user/source/encoder.h:
user/source/aux_ring.h:
user/source/step/step_internal.h:
user/process/shield.h:
user/source/code_stores.h:
user/source/source.h:
user/model/trigger.h:
