build-clang/user/trigger/hit_record.o: user/trigger/hit_record.c \
  user/trigger/hit_record.h bpf/hit.h bpf/hit_action.h \
  user/arch/x86_64/registers.h user/trigger/trigger.h \
  user/base/cleanup.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/model/trigger.h

user/trigger/hit_record.h:

bpf/hit.h:

bpf/hit_action.h:

user/arch/x86_64/registers.h:

user/trigger/trigger.h:

user/base/cleanup.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/model/trigger.h:
