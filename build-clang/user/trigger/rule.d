build-clang/user/trigger/rule.o: user/trigger/rule.c user/base/array.h \
  user/base/error.h bpf/rule.h bpf/hit_action.h \
  user/condition/condition.h user/base/cleanup.h user/condition/prints.h \
  user/elf/elf_file.h user/elf/inlines.h user/model/symbol.h \
  user/probe/arg_layout.h bpf/usdt_arg.h user/arch/x86_64/registers.h \
  user/trigger/call_probes.h user/trigger/trigger.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h user/model/trigger.h

user/base/array.h:

user/base/error.h:

bpf/rule.h:

bpf/hit_action.h:

user/condition/condition.h:

user/base/cleanup.h:

user/condition/prints.h:

user/elf/elf_file.h:

user/elf/inlines.h:

user/model/symbol.h:

user/probe/arg_layout.h:

bpf/usdt_arg.h:

user/arch/x86_64/registers.h:

user/trigger/call_probes.h:

user/trigger/trigger.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/model/trigger.h:
