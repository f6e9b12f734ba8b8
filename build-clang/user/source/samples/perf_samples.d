build-clang/user/source/samples/perf_samples.o: \
  user/source/samples/perf_samples.c user/source/samples/perf_samples.h \
  user/base/cleanup.h user/source/samples/ring_writer.h bpf/samples.h \
  user/base/array.h user/base/error.h user/base/log.h \
  user/base/reading.h user/model/sample.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  user/source/pt_event.h user/source/pt_ring.h user/model/trace_params.h \
  user/source/samples/ticks.h

user/source/samples/perf_samples.h:

user/base/cleanup.h:

user/source/samples/ring_writer.h:

bpf/samples.h:

user/base/array.h:

user/base/error.h:

user/base/log.h:

user/base/reading.h:

user/model/sample.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/source/pt_event.h:

user/source/pt_ring.h:

user/model/trace_params.h:

user/source/samples/ticks.h:
