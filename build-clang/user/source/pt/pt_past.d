build-clang/user/source/pt/pt_past.o: user/source/pt/pt_past.c \
  user/source/pt/pt_past.h user/model/record_list.h user/base/sort.h \
  user/model/snapshot.h user/base/cleanup.h bpf/alloc.h \
  user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/model/sideband.h user/process/maps.h user/process/proc_status.h

user/source/pt/pt_past.h:

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

user/model/sideband.h:

user/process/maps.h:

user/process/proc_status.h:
