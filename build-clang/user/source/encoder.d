build-clang/user/source/encoder.o: user/source/encoder.c \
  user/source/encoder.h user/model/trace_params.h user/source/aux_ring.h \
  user/base/clock.h user/model/snapshot.h user/base/cleanup.h \
  bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h

user/source/encoder.h:

user/model/trace_params.h:

user/source/aux_ring.h:

user/base/clock.h:

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
