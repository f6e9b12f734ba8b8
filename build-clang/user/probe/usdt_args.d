build-clang/user/probe/usdt_args.o: user/probe/usdt_args.c \
  user/probe/usdt_args.h bpf/usdt_arg.h user/arch/x86_64/registers.h \
  user/elf/elf_file.h user/base/cleanup.h user/elf/inlines.h \
  user/model/symbol.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/base/array.h user/base/error.h

user/probe/usdt_args.h:

bpf/usdt_arg.h:

user/arch/x86_64/registers.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/base/array.h:

user/base/error.h:
