build-clang/user/rebuild/instructions.o: user/rebuild/instructions.c \
  user/base/array.h user/base/sort.h user/rebuild/decode.h \
  user/base/cleanup.h user/decode/decoder.h user/model/branch.h \
  user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
  user/model/trace_params.h user/model/timeline.h user/model/symbol.h \
  user/rebuild/traces.h user/history/schedule.h user/history/history.h \
  user/image/binaries.h user/image/image.h user/elf/inlines.h \
  user/elf/landing.h user/image/jit_symbols.h

user/base/array.h:

user/base/sort.h:

user/rebuild/decode.h:

user/base/cleanup.h:

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

user/model/timeline.h:

user/model/symbol.h:

user/rebuild/traces.h:

user/history/schedule.h:

user/history/history.h:

user/image/binaries.h:

user/image/image.h:

user/elf/inlines.h:

user/elf/landing.h:

user/image/jit_symbols.h:
