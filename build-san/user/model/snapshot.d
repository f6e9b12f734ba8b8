build-san/user/model/snapshot.o: user/model/snapshot.c \
 user/model/snapshot.h user/base/cleanup.h bpf/alloc.h user/model/call.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
 user/model/trace_params.h user/base/array.h
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
