build-clang/user/stacks/segment.o: user/stacks/segment.c \
  user/stacks/segment.h user/stacks/slice_list.h user/stacks/pack.h \
  user/base/cleanup.h user/base/hash_index.h user/model/timeline.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/symbol.h \
  user/base/array.h user/base/spill.h

user/stacks/segment.h:

user/stacks/slice_list.h:

user/stacks/pack.h:

user/base/cleanup.h:

user/base/hash_index.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/symbol.h:

user/base/array.h:

user/base/spill.h:
