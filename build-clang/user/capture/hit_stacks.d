build-clang/user/capture/hit_stacks.o: user/capture/hit_stacks.c \
  user/capture/hit_stacks.h user/base/cleanup.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/base/array.h \
  user/image/image.h user/elf/inlines.h user/model/symbol.h \
  user/elf/landing.h user/image/jit_symbols.h user/image/unwind.h \
  user/source/process_image.h

user/capture/hit_stacks.h:

user/base/cleanup.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/base/array.h:

user/image/image.h:

user/elf/inlines.h:

user/model/symbol.h:

user/elf/landing.h:

user/image/jit_symbols.h:

user/image/unwind.h:

user/source/process_image.h:
