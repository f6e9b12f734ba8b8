build-san/user/rebuild/slice_index.o: user/rebuild/slice_index.c \
 user/rebuild/slice_index.h user/model/timeline.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 user/base/cleanup.h bpf/hit_action.h user/model/symbol.h \
 user/base/array.h user/base/spill.h
user/rebuild/slice_index.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/base/cleanup.h:
bpf/hit_action.h:
user/model/symbol.h:
user/base/array.h:
user/base/spill.h:
