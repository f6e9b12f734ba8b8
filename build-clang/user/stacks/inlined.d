build-clang/user/stacks/inlined.o: user/stacks/inlined.c \
  user/stacks/inlined.h user/elf/inlines.h user/model/symbol.h \
  user/stacks/slice_list.h user/stacks/pack.h user/base/cleanup.h \
  user/base/hash_index.h user/model/timeline.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/base/array.h \
  user/base/spill.h

user/stacks/inlined.h:

user/elf/inlines.h:

user/model/symbol.h:

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

user/base/array.h:

user/base/spill.h:
