build-san/user/stacks/stitch.o: user/stacks/stitch.c user/stacks/stitch.h \
 user/stacks/segment.h user/stacks/slice_list.h user/stacks/pack.h \
 user/base/cleanup.h user/base/hash_index.h user/model/timeline.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h bpf/hit_action.h user/model/symbol.h \
 user/base/array.h user/base/spill.h user/stacks/stacks_internal.h \
 user/stacks/inlined.h user/elf/inlines.h user/stacks/moments.h \
 user/stacks/stamp_list.h user/stacks/stacks.h user/elf/landing.h \
 user/model/branch.h
user/stacks/stitch.h:
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
user/stacks/stacks_internal.h:
user/stacks/inlined.h:
user/elf/inlines.h:
user/stacks/moments.h:
user/stacks/stamp_list.h:
user/stacks/stacks.h:
user/elf/landing.h:
user/model/branch.h:
