build-san/user/condition/condition_parse.o: \
 user/condition/condition_parse.c user/base/array.h user/base/error.h \
 user/condition/condition.h user/base/cleanup.h \
 user/condition/condition_fields.h user/condition/condition_lexer.h \
 user/condition/condition_tree.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/condition/prints.h user/elf/elf_fields.h \
 user/condition/condition_words.h user/process/cgroup.h
user/base/array.h:
user/base/error.h:
user/condition/condition.h:
user/base/cleanup.h:
user/condition/condition_fields.h:
user/condition/condition_lexer.h:
user/condition/condition_tree.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/condition/prints.h:
user/elf/elf_fields.h:
user/condition/condition_words.h:
user/process/cgroup.h:
