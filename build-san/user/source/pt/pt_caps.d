build-san/user/source/pt/pt_caps.o: user/source/pt/pt_caps.c \
 user/source/pt/pt_caps.h user/model/trace_params.h user/source/source.h \
 user/model/sideband.h user/model/snapshot.h user/base/cleanup.h \
 bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/sample.h user/model/trigger.h user/base/array.h \
 user/base/error.h user/base/reading.h
user/source/pt/pt_caps.h:
user/model/trace_params.h:
user/source/source.h:
user/model/sideband.h:
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
user/model/trigger.h:
user/base/array.h:
user/base/error.h:
user/base/reading.h:
