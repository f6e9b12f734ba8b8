build-san/user/recording/trailcam_section.o: \
 user/recording/trailcam_section.c user/base/array.h user/base/cleanup.h \
 user/base/error.h user/base/packed.h user/recording/perf_data.h \
 user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
 user/recording/sections.h
user/base/array.h:
user/base/cleanup.h:
user/base/error.h:
user/base/packed.h:
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
user/recording/sections.h:
