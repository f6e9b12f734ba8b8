build-san/user/source/alloc/recorder.o: user/source/alloc/recorder.c \
 user/source/alloc/recorder.h user/base/cleanup.h bpf/alloc.h \
 user/trigger/trigger.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/trigger.h user/base/array.h user/base/error.h user/base/log.h \
 user/source/alloc/alloc_exits.h user/source/alloc/allocators.h \
 bpf/alloc_probe.h bpf/usdt_arg.h user/elf/elf_file.h user/elf/inlines.h \
 user/model/symbol.h user/source/alloc/probe_cost.h user/trigger/links.h \
 user/process/keeper.h user/trigger/programs.h user/condition/condition.h \
 user/trigger/uprobe_multi.h user/trigger/privilege.h \
 build-san/bpf/alloc.skel.h
user/source/alloc/recorder.h:
user/base/cleanup.h:
bpf/alloc.h:
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
user/source/alloc/alloc_exits.h:
user/source/alloc/allocators.h:
bpf/alloc_probe.h:
bpf/usdt_arg.h:
user/elf/elf_file.h:
user/elf/inlines.h:
user/model/symbol.h:
user/source/alloc/probe_cost.h:
user/trigger/links.h:
user/process/keeper.h:
user/trigger/programs.h:
user/condition/condition.h:
user/trigger/uprobe_multi.h:
user/trigger/privilege.h:
build-san/bpf/alloc.skel.h:
