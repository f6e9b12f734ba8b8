build-san/user/condition/condition_fields.o: \
 user/condition/condition_fields.c user/condition/condition_fields.h \
 user/condition/condition_lexer.h user/condition/condition_tree.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 user/base/cleanup.h bpf/hit_action.h user/condition/prints.h \
 user/elf/elf_fields.h user/base/error.h user/condition/condition.h \
 user/elf/elf_file.h user/elf/inlines.h user/model/symbol.h \
 user/model/trigger.h user/probe/arg_layout.h bpf/usdt_arg.h
user/condition/condition_fields.h:
user/condition/condition_lexer.h:
user/condition/condition_tree.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/base/cleanup.h:
bpf/hit_action.h:
user/condition/prints.h:
user/elf/elf_fields.h:
user/base/error.h:
user/condition/condition.h:
user/elf/elf_file.h:
user/elf/inlines.h:
user/model/symbol.h:
user/model/trigger.h:
user/probe/arg_layout.h:
bpf/usdt_arg.h:
