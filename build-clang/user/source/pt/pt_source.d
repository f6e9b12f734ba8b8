build-clang/user/source/pt/pt_source.o: user/source/pt/pt_source.c \
  user/source/pt/pt_internal.h user/model/record_list.h user/base/sort.h \
  user/model/snapshot.h user/base/cleanup.h bpf/alloc.h \
  user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/source/pt/pt.h user/source/pt/pt_caps.h user/source/source.h \
  user/model/sideband.h user/model/trigger.h user/source/pt_event.h \
  user/source/pt_ring.h

user/source/pt/pt_internal.h:

user/model/record_list.h:

user/base/sort.h:

user/model/snapshot.h:

user/base/cleanup.h:

bpf/alloc.h:

user/model/call.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/sample.h:

user/model/trace_params.h:

user/source/pt/pt.h:

user/source/pt/pt_caps.h:

user/source/source.h:

user/model/sideband.h:

user/model/trigger.h:

user/source/pt_event.h:

user/source/pt_ring.h:
