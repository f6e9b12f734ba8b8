build-san/user/model/timeline.o: user/model/timeline.c \
 user/model/timeline.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 user/base/cleanup.h bpf/hit_action.h user/model/symbol.h \
 user/base/arena.h user/base/hash_index.h user/base/array.h \
 user/base/spill.h
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/base/cleanup.h:
bpf/hit_action.h:
user/model/symbol.h:
user/base/arena.h:
user/base/hash_index.h:
user/base/array.h:
user/base/spill.h:
