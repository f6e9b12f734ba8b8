build-san/user/decode/instructions.o: user/decode/instructions.c \
 user/base/error.h user/decode/code_insn.h user/decode/fast.h \
 user/decode/pieces.h user/decode/code.h user/decode/cache.h \
 user/decode/graph.h user/decode/decoder.h user/base/cleanup.h \
 user/model/branch.h user/model/snapshot.h bpf/alloc.h user/model/call.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
 user/model/trace_params.h user/decode/psb.h user/decode/status.h \
 user/decode/walk.h
user/base/error.h:
user/decode/code_insn.h:
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
user/decode/status.h:
user/decode/walk.h:
