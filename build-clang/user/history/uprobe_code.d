build-clang/user/history/uprobe_code.o: user/history/uprobe_code.c \
  user/history/uprobe_code.h user/history/history.h user/base/cleanup.h \
  user/decode/decoder.h user/model/branch.h user/model/snapshot.h \
  bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
  user/image/binaries.h user/image/image.h user/elf/inlines.h \
  user/model/symbol.h user/elf/landing.h user/image/jit_symbols.h

user/history/uprobe_code.h:

user/history/history.h:

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

user/image/binaries.h:

user/image/image.h:

user/elf/inlines.h:

user/model/symbol.h:

user/elf/landing.h:

user/image/jit_symbols.h:
