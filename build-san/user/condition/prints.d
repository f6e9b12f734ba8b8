build-san/user/condition/prints.o: user/condition/prints.c \
 user/condition/prints.h user/base/cleanup.h \
 user/condition/condition_tree.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h
user/condition/prints.h:
user/base/cleanup.h:
user/condition/condition_tree.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
