build-clang/user/recording/takeover.o: user/recording/takeover.c \
  user/recording/takeover.h user/base/cleanup.h \
  user/recording/perf_data.h user/model/snapshot.h bpf/alloc.h \
  user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/recording/recording.h user/source/pt/kernel_code.h

user/recording/takeover.h:

user/base/cleanup.h:

user/recording/perf_data.h:

user/model/snapshot.h:

bpf/alloc.h:

user/model/call.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/sample.h:

user/model/trace_params.h:

user/recording/recording.h:

user/source/pt/kernel_code.h:
