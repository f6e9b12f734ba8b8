build-clang/user/probe/arg_layout.o: user/probe/arg_layout.c \
  user/probe/arg_layout.h bpf/hit_action.h bpf/usdt_arg.h \
  user/arch/x86_64/registers.h user/elf/elf_file.h user/base/cleanup.h \
  user/elf/inlines.h user/model/symbol.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/base/array.h user/base/error.h \
  user/model/trigger.h user/probe/usdt_args.h

user/probe/arg_layout.h:

bpf/hit_action.h:

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

user/model/trigger.h:

user/probe/usdt_args.h:
