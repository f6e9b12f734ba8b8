build-clang/user/timeline/waits.o: user/timeline/waits.c \
  user/timeline/waits.h user/base/hash_index.h user/model/timeline.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h user/base/cleanup.h bpf/hit_action.h \
  user/model/symbol.h user/base/array.h user/base/sort.h \
  user/base/spill.h

user/timeline/waits.h:

user/base/hash_index.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/cleanup.h:

bpf/hit_action.h:

user/model/symbol.h:

user/base/array.h:

user/base/sort.h:

user/base/spill.h:
