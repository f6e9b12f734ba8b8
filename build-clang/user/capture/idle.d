build-clang/user/capture/idle.o: user/capture/idle.c user/capture/idle.h \
  user/trigger/trigger.h user/base/cleanup.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/trigger.h \
  user/base/array.h user/capture/interrupt.h

user/capture/idle.h:

user/trigger/trigger.h:

user/base/cleanup.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/trigger.h:

user/base/array.h:

user/capture/interrupt.h:
