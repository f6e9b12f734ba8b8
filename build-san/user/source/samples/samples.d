build-san/user/source/samples/samples.o: user/source/samples/samples.c \
 user/source/samples/samples.h user/base/cleanup.h user/model/snapshot.h \
 bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/sample.h user/model/trace_params.h \
 user/source/samples/events.h user/source/samples/ticks.h \
 user/base/array.h user/base/error.h user/base/sort.h \
 build-san/bpf/samples.skel.h user/source/samples/perf_samples.h \
 user/source/samples/ring_writer.h bpf/samples.h \
 user/source/samples/ring.h user/trigger/privilege.h \
 user/trigger/programs.h user/condition/condition.h \
 user/trigger/trigger.h user/model/trigger.h
user/source/samples/samples.h:
user/base/cleanup.h:
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
user/source/samples/events.h:
user/source/samples/ticks.h:
user/base/array.h:
user/base/error.h:
user/base/sort.h:
build-san/bpf/samples.skel.h:
user/source/samples/perf_samples.h:
user/source/samples/ring_writer.h:
bpf/samples.h:
user/source/samples/ring.h:
user/trigger/privilege.h:
user/trigger/programs.h:
user/condition/condition.h:
user/trigger/trigger.h:
user/model/trigger.h:
