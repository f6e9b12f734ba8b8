build-san/user/rebuild/build_calls.o: user/rebuild/build_calls.c \
 user/base/array.h user/base/log.h user/base/sort.h user/rebuild/batch.h \
 user/model/timeline.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 user/base/cleanup.h bpf/hit_action.h user/model/symbol.h \
 user/stacks/calls.h user/stacks/stacks.h user/elf/inlines.h \
 user/elf/landing.h user/model/branch.h user/stacks/sampled.h \
 user/rebuild/decoded.h user/history/history.h user/decode/decoder.h \
 user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/sample.h \
 user/model/trace_params.h user/image/binaries.h user/image/image.h \
 user/image/jit_symbols.h user/rebuild/decode.h user/rebuild/input.h \
 user/rebuild/resolver.h
user/base/array.h:
user/base/log.h:
user/base/sort.h:
user/rebuild/batch.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/base/cleanup.h:
bpf/hit_action.h:
user/model/symbol.h:
user/stacks/calls.h:
user/stacks/stacks.h:
user/elf/inlines.h:
user/elf/landing.h:
user/model/branch.h:
user/stacks/sampled.h:
user/rebuild/decoded.h:
user/history/history.h:
user/decode/decoder.h:
user/model/snapshot.h:
bpf/alloc.h:
user/model/call.h:
user/model/sample.h:
user/model/trace_params.h:
user/image/binaries.h:
user/image/image.h:
user/image/jit_symbols.h:
user/rebuild/decode.h:
user/rebuild/input.h:
user/rebuild/resolver.h:
