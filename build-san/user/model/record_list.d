build-san/user/model/record_list.o: user/model/record_list.c \
 user/model/record_list.h user/base/sort.h user/model/snapshot.h \
 user/base/cleanup.h bpf/alloc.h user/model/call.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
 user/base/array.h user/model/sideband.h
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
user/base/array.h:
user/model/sideband.h:
