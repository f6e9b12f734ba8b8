build-clang/user/decode/packets.o: user/decode/packets.c \
  user/base/cleanup.h user/base/error.h user/decode/decoder.h \
  user/model/branch.h user/model/snapshot.h bpf/alloc.h \
  user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/decode/setup.h

user/base/cleanup.h:

user/base/error.h:

user/decode/decoder.h:

user/model/branch.h:

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

user/decode/setup.h:
