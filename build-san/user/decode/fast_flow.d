build-san/user/decode/fast_flow.o: user/decode/fast_flow.c \
 user/decode/fast_internal.h user/decode/fast.h user/decode/pieces.h \
 user/decode/code.h user/decode/cache.h user/decode/graph.h \
 user/decode/decoder.h user/base/cleanup.h user/model/branch.h \
 user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
 user/decode/psb.h user/decode/timing.h user/base/array.h
user/decode/fast_internal.h:
user/decode/fast.h:
user/decode/pieces.h:
user/decode/code.h:
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
user/decode/psb.h:
user/decode/timing.h:
user/base/array.h:
