build-clang/user/model/hit.o: user/model/hit.c user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h user/base/cleanup.h bpf/hit_action.h \
  user/base/arena.h user/base/hash_index.h user/base/array.h \
  user/base/packed.h

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/cleanup.h:

bpf/hit_action.h:

user/base/arena.h:

user/base/hash_index.h:

user/base/array.h:

user/base/packed.h:
