build-clang/user/capture/goroutine.o: user/capture/goroutine.c \
  user/capture/goroutine.h user/trigger/trigger.h user/base/cleanup.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/trigger.h \
  user/base/error.h user/elf/elf_file.h user/elf/inlines.h \
  user/model/symbol.h

user/capture/goroutine.h:

user/trigger/trigger.h:

user/base/cleanup.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/trigger.h:

user/base/error.h:

user/elf/elf_file.h:

user/elf/inlines.h:

user/model/symbol.h:
