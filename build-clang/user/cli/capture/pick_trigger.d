build-clang/user/cli/capture/pick_trigger.o: \
  user/cli/capture/pick_trigger.c user/cli/capture/pick_trigger.h \
  user/base/array.h user/base/error.h user/cli/capture/pick.h \
  user/probe/list.h user/elf/elf_file.h user/base/cleanup.h \
  user/elf/inlines.h user/model/symbol.h user/trigger/trigger.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/trigger.h

user/cli/capture/pick_trigger.h:

user/base/array.h:

user/base/error.h:

user/cli/capture/pick.h:

user/probe/list.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/trigger/trigger.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/trigger.h:
