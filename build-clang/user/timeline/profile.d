build-clang/user/timeline/profile.o: user/timeline/profile.c \
  user/timeline/profile.h user/base/cleanup.h user/model/timeline.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/symbol.h \
  user/base/array.h user/base/hash_index.h user/base/spill.h

user/timeline/profile.h:

user/base/cleanup.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/symbol.h:

user/base/array.h:

user/base/hash_index.h:

user/base/spill.h:
