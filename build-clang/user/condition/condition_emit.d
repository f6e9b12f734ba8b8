build-clang/user/condition/condition_emit.o: \
  user/condition/condition_emit.c user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  user/base/array.h user/base/error.h bpf/rule.h bpf/hit_action.h \
  user/condition/condition.h user/base/cleanup.h \
  user/condition/condition_tree.h user/condition/prints.h \
  user/probe/arg_layout.h bpf/usdt_arg.h user/elf/elf_file.h \
  user/elf/inlines.h user/model/symbol.h

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/array.h:

user/base/error.h:

bpf/rule.h:

bpf/hit_action.h:

user/condition/condition.h:

user/base/cleanup.h:

user/condition/condition_tree.h:

user/condition/prints.h:

user/probe/arg_layout.h:

bpf/usdt_arg.h:

user/elf/elf_file.h:

user/elf/inlines.h:

user/model/symbol.h:
