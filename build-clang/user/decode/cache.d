build-clang/user/decode/cache.o: user/decode/cache.c user/decode/cache.h \
  user/decode/graph.h user/decode/decoder.h user/base/cleanup.h \
  user/model/branch.h user/model/snapshot.h bpf/alloc.h \
  user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/base/array.h user/base/error.h user/base/plain_file.h \
  user/decode/status.h

user/decode/cache.h:

user/decode/graph.h:

user/decode/decoder.h:

user/base/cleanup.h:

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

user/base/array.h:

user/base/error.h:

user/base/plain_file.h:

user/decode/status.h:
