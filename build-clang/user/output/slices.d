build-clang/user/output/slices.o: user/output/slices.c user/base/error.h \
  user/base/sort.h user/output/shown.h user/model/timeline.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h user/base/cleanup.h bpf/hit_action.h \
  user/model/symbol.h user/output/output.h user/output/sink.h

user/base/error.h:

user/base/sort.h:

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

user/output/sink.h:
