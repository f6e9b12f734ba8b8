build-san/user/rebuild/counts.o: user/rebuild/counts.c \
 user/rebuild/counts.h user/model/timeline.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 user/base/cleanup.h bpf/hit_action.h user/model/symbol.h \
 user/base/array.h
user/rebuild/counts.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/base/cleanup.h:
bpf/hit_action.h:
user/model/symbol.h:
user/base/array.h:
