build-clang/user/rebuild/sample_items.o: user/rebuild/sample_items.c \
  user/rebuild/sample_items.h user/model/sample.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  user/stacks/sampled.h user/stacks/stacks.h user/base/cleanup.h \
  user/elf/inlines.h user/model/symbol.h user/elf/landing.h \
  user/model/branch.h user/model/timeline.h user/model/hit.h \
  bpf/hit_action.h user/base/array.h user/rebuild/pause_detail.h

user/rebuild/sample_items.h:

user/model/sample.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/stacks/sampled.h:

user/stacks/stacks.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/elf/landing.h:

user/model/branch.h:

user/model/timeline.h:

user/model/hit.h:

bpf/hit_action.h:

user/base/array.h:

user/rebuild/pause_detail.h:
