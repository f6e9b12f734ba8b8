build-san/user/source/pt/pt.o: user/source/pt/pt.c user/source/pt/pt.h \
 user/base/cleanup.h user/model/snapshot.h bpf/alloc.h user/model/call.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
 user/model/trace_params.h user/source/pt/pt_caps.h user/source/source.h \
 user/model/sideband.h user/model/trigger.h user/base/array.h \
 user/base/clock.h user/base/error.h user/base/log.h \
 user/source/code_store.h user/process/maps.h user/source/insn.h \
 user/source/pt/kernel_code.h user/source/pt/pt_internal.h \
 user/model/record_list.h user/base/sort.h user/source/pt_event.h \
 user/source/pt_ring.h user/source/pt/pt_limits.h \
 user/source/pt/pt_past.h
user/source/pt/pt.h:
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
user/source/pt/pt_caps.h:
user/source/source.h:
user/model/sideband.h:
user/model/trigger.h:
user/base/array.h:
user/base/clock.h:
user/base/error.h:
user/base/log.h:
user/source/code_store.h:
user/process/maps.h:
user/source/insn.h:
user/source/pt/kernel_code.h:
user/source/pt/pt_internal.h:
user/model/record_list.h:
user/base/sort.h:
user/source/pt_event.h:
user/source/pt_ring.h:
user/source/pt/pt_limits.h:
user/source/pt/pt_past.h:
