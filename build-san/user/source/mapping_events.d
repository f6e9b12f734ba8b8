build-san/user/source/mapping_events.o: user/source/mapping_events.c \
 user/source/mapping_events.h user/base/cleanup.h user/model/snapshot.h \
 bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/sample.h user/model/trace_params.h user/base/array.h \
 user/base/error.h user/model/record_list.h user/base/sort.h \
 user/model/sideband.h user/source/pt_event.h user/source/pt_ring.h
user/source/mapping_events.h:
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
user/base/array.h:
user/base/error.h:
user/model/record_list.h:
user/base/sort.h:
user/model/sideband.h:
user/source/pt_event.h:
user/source/pt_ring.h:
