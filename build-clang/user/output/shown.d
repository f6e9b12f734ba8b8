build-clang/user/output/shown.o: user/output/shown.c user/output/shown.h \
  user/model/timeline.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  user/base/cleanup.h bpf/hit_action.h user/model/symbol.h \
  user/output/output.h user/base/array.h user/base/on_line.h

user/output/shown.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/cleanup.h:

bpf/hit_action.h:

user/model/symbol.h:

user/output/output.h:

user/base/array.h:

user/base/on_line.h:
