build-clang/user/model/slice_cursor.o: user/model/slice_cursor.c \
  user/model/slice_cursor.h user/model/timeline.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h user/base/cleanup.h bpf/hit_action.h \
  user/model/symbol.h user/base/spill.h

user/model/slice_cursor.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/cleanup.h:

bpf/hit_action.h:

user/model/symbol.h:

user/base/spill.h:
