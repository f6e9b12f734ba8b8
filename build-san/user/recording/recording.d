build-san/user/recording/recording.o: user/recording/recording.c \
 user/recording/recording.h user/model/snapshot.h user/base/cleanup.h \
 bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/sample.h user/model/trace_params.h user/base/error.h \
 user/base/log.h user/base/plain_file.h user/base/write_all.h \
 user/recording/perf_data.h user/recording/takeover.h \
 user/source/pt/kernel_code.h
user/recording/recording.h:
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
user/base/error.h:
user/base/log.h:
user/base/plain_file.h:
user/base/write_all.h:
user/recording/perf_data.h:
user/recording/takeover.h:
user/source/pt/kernel_code.h:
