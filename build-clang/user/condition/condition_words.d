build-clang/user/condition/condition_words.o: \
  user/condition/condition_words.c user/condition/condition_words.h \
  user/condition/condition_tree.h user/arch/arch.h \
  user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
  user/base/cleanup.h bpf/hit_action.h user/condition/prints.h \
  user/base/array.h

user/condition/condition_words.h:

user/condition/condition_tree.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/cleanup.h:

bpf/hit_action.h:

user/condition/prints.h:

user/base/array.h:
