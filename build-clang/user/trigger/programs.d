build-clang/user/trigger/programs.o: user/trigger/programs.c \
  user/trigger/programs.h user/condition/condition.h user/base/cleanup.h \
  user/trigger/trigger.h user/model/hit.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  bpf/hit_action.h user/model/trigger.h user/base/array.h \
  user/base/error.h user/base/log.h bpf/rule.h \
  build-clang/bpf/trigger.skel.h user/condition/prints.h \
  user/probe/arg_layout.h bpf/usdt_arg.h user/elf/elf_file.h \
  user/elf/inlines.h user/model/symbol.h user/trigger/privilege.h \
  user/trigger/uprobe_multi.h

user/trigger/programs.h:

user/condition/condition.h:

user/base/cleanup.h:

user/trigger/trigger.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/trigger.h:

user/base/array.h:

user/base/error.h:

user/base/log.h:

bpf/rule.h:

build-clang/bpf/trigger.skel.h:

user/condition/prints.h:

user/probe/arg_layout.h:

bpf/usdt_arg.h:

user/elf/elf_file.h:

user/elf/inlines.h:

user/model/symbol.h:

user/trigger/privilege.h:

user/trigger/uprobe_multi.h:
