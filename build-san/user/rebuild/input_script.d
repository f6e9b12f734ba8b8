build-san/user/rebuild/input_script.o: user/rebuild/input_script.c \
 user/base/error.h user/input/perf_script.h user/base/cleanup.h \
 user/model/branch.h user/model/symbol.h user/stacks/stacks.h \
 user/elf/inlines.h user/elf/landing.h user/model/timeline.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h bpf/hit_action.h user/rebuild/batch.h \
 user/stacks/calls.h user/stacks/sampled.h user/rebuild/counts.h \
 user/rebuild/decoded.h user/history/history.h user/decode/decoder.h \
 user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/sample.h \
 user/model/trace_params.h user/image/binaries.h user/image/image.h \
 user/image/jit_symbols.h user/rebuild/decode.h user/rebuild/input.h
user/base/error.h:
user/input/perf_script.h:
user/base/cleanup.h:
user/model/branch.h:
user/model/symbol.h:
user/stacks/stacks.h:
user/elf/inlines.h:
user/elf/landing.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/rebuild/batch.h:
user/stacks/calls.h:
user/stacks/sampled.h:
user/rebuild/counts.h:
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
