build-clang/user/recording/perf_data_samples.o: \
  user/recording/perf_data_samples.c user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  user/base/array.h user/base/cleanup.h user/model/sideband.h \
  user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/recording/perf_data.h user/recording/perf_sample.h

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/array.h:

user/base/cleanup.h:

user/model/sideband.h:

user/model/snapshot.h:

bpf/alloc.h:

user/model/call.h:

user/model/hit.h:

bpf/hit_action.h:

user/model/sample.h:

user/model/trace_params.h:

user/recording/perf_data.h:

user/recording/perf_sample.h:
