build-san/user/recording/perf_data_read.o: \
 user/recording/perf_data_read.c user/base/cleanup.h user/base/error.h \
 user/recording/perf_data.h user/model/snapshot.h bpf/alloc.h \
 user/model/call.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/sample.h user/model/trace_params.h \
 user/recording/perf_events.h user/model/record_list.h user/base/sort.h \
 user/recording/perf_features.h
user/base/cleanup.h:
user/base/error.h:
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
user/recording/perf_events.h:
user/model/record_list.h:
user/base/sort.h:
user/recording/perf_features.h:
