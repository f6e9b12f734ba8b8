build-clang/user/source/samples/samples_source.o: \
  user/source/samples/samples_source.c user/base/error.h user/base/log.h \
  user/source/samples/perf_samples.h user/base/cleanup.h \
  user/source/samples/ring_writer.h bpf/samples.h \
  user/source/samples/samples.h user/model/snapshot.h bpf/alloc.h \
  user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/source/samples/events.h user/source/samples/ticks.h \
  user/source/source.h user/model/sideband.h user/model/trigger.h

user/base/error.h:

user/base/log.h:

user/source/samples/perf_samples.h:

user/base/cleanup.h:

user/source/samples/ring_writer.h:

bpf/samples.h:

user/source/samples/samples.h:

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

user/source/source.h:

user/model/sideband.h:

user/model/trigger.h:
