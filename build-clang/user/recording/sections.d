build-clang/user/recording/sections.o: user/recording/sections.c \
  user/recording/sections.h user/model/snapshot.h user/base/cleanup.h \
  bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/base/array.h user/base/error.h user/base/log.h

user/recording/sections.h:

user/model/snapshot.h:

user/base/cleanup.h:

bpf/alloc.h:

user/model/call.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/sample.h:

user/model/trace_params.h:

user/base/array.h:

user/base/error.h:

user/base/log.h:
