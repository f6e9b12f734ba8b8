build-san/user/stacks/stored.o: user/stacks/stored.c user/stacks/stored.h \
 user/stacks/moments.h user/stacks/stamp_list.h user/stacks/pack.h \
 user/base/cleanup.h user/base/hash_index.h user/model/timeline.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h bpf/hit_action.h user/model/symbol.h \
 user/stacks/slice_list.h user/stacks/stacks.h user/elf/inlines.h \
 user/elf/landing.h user/model/branch.h user/base/array.h user/base/log.h \
 user/base/sort.h user/base/spill.h
user/stacks/stored.h:
user/stacks/moments.h:
user/stacks/stamp_list.h:
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
user/stacks/slice_list.h:
user/stacks/stacks.h:
user/elf/inlines.h:
user/elf/landing.h:
user/model/branch.h:
user/base/array.h:
user/base/log.h:
user/base/sort.h:
user/base/spill.h:
