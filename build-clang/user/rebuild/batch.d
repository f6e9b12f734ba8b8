build-clang/user/rebuild/batch.o: user/rebuild/batch.c \
  user/rebuild/batch.h user/model/timeline.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h user/base/cleanup.h bpf/hit_action.h \
  user/model/symbol.h user/stacks/calls.h user/stacks/stacks.h \
  user/elf/inlines.h user/elf/landing.h user/model/branch.h \
  user/stacks/sampled.h user/base/array.h

user/rebuild/batch.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/cleanup.h:

bpf/hit_action.h:

user/model/symbol.h:

user/stacks/calls.h:

user/stacks/stacks.h:

user/elf/inlines.h:

user/elf/landing.h:

user/model/branch.h:

user/stacks/sampled.h:

user/base/array.h:
