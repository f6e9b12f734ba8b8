build-san/user/rebuild/pause_detail.o: user/rebuild/pause_detail.c \
 user/rebuild/pause_detail.h user/model/sample.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 user/model/timeline.h user/model/hit.h user/base/cleanup.h \
 bpf/hit_action.h user/model/symbol.h user/rebuild/syscalls.h
user/rebuild/pause_detail.h:
user/model/sample.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/model/timeline.h:
user/model/hit.h:
user/base/cleanup.h:
bpf/hit_action.h:
user/model/symbol.h:
user/rebuild/syscalls.h:
