build-clang/user/stacks/stacks.o: user/stacks/stacks.c \
  user/stacks/stacks.h user/base/cleanup.h user/elf/inlines.h \
  user/model/symbol.h user/elf/landing.h user/model/branch.h \
  user/model/timeline.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/base/array.h user/base/spill.h \
  user/stacks/callers.h user/stacks/moments.h user/stacks/stamp_list.h \
  user/stacks/pack.h user/base/hash_index.h user/stacks/segment.h \
  user/stacks/slice_list.h user/stacks/stacks_internal.h \
  user/stacks/inlined.h user/stacks/stitch.h user/stacks/stored.h

user/stacks/stacks.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/elf/landing.h:

user/model/branch.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/base/array.h:

user/base/spill.h:

user/stacks/callers.h:

user/stacks/moments.h:

user/stacks/stamp_list.h:

user/stacks/pack.h:

user/base/hash_index.h:

user/stacks/segment.h:

user/stacks/slice_list.h:

user/stacks/stacks_internal.h:

user/stacks/inlined.h:

user/stacks/stitch.h:

user/stacks/stored.h:
