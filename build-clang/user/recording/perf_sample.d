build-clang/user/recording/perf_sample.o: user/recording/perf_sample.c \
  user/recording/perf_sample.h user/model/snapshot.h user/base/cleanup.h \
  bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/base/array.h user/base/error.h

user/recording/perf_sample.h:

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
