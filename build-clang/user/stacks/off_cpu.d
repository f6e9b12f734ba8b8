build-clang/user/stacks/off_cpu.o: user/stacks/off_cpu.c \
  user/stacks/off_cpu.h user/model/timeline.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h user/base/cleanup.h bpf/hit_action.h \
  user/model/symbol.h user/base/spill.h user/model/slice_cursor.h

user/stacks/off_cpu.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/cleanup.h:

bpf/hit_action.h:

user/model/symbol.h:

user/base/spill.h:

user/model/slice_cursor.h:
