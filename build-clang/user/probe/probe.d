build-clang/user/probe/probe.o: user/probe/probe.c user/probe/probe.h \
  user/elf/elf_file.h user/base/cleanup.h user/elf/inlines.h \
  user/model/symbol.h user/model/trigger.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  user/base/array.h user/base/error.h user/probe/arg_layout.h \
  bpf/hit_action.h bpf/usdt_arg.h user/probe/boundary.h \
  user/probe/site.h

user/probe/probe.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/model/trigger.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/array.h:

user/base/error.h:

user/probe/arg_layout.h:

bpf/hit_action.h:

bpf/usdt_arg.h:

user/probe/boundary.h:

user/probe/site.h:
