build-san/user/source/translate/inject.o: user/source/translate/inject.c \
 user/source/translate/inject.h user/process/inject.h \
 user/source/translate/arena.h user/base/cleanup.h \
 user/translate/layout.h user/base/error.h user/model/trigger.h \
 user/process/maps.h user/model/sideband.h user/model/snapshot.h \
 bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/sample.h user/model/trace_params.h
user/source/translate/inject.h:
user/process/inject.h:
user/source/translate/arena.h:
user/base/cleanup.h:
user/translate/layout.h:
user/base/error.h:
user/model/trigger.h:
user/process/maps.h:
user/model/sideband.h:
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
