build-san/user/source/alloc/alloc_usdts.o: \
 user/source/alloc/alloc_usdts.c user/base/array.h user/base/error.h \
 user/probe/probe.h user/elf/elf_file.h user/base/cleanup.h \
 user/elf/inlines.h user/model/symbol.h user/model/trigger.h \
 user/probe/usdt_args.h bpf/usdt_arg.h user/arch/x86_64/registers.h \
 user/source/alloc/allocators.h bpf/alloc_probe.h bpf/alloc.h \
 user/source/alloc/recorder.h user/trigger/trigger.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h bpf/hit_action.h
user/base/array.h:
user/base/error.h:
user/probe/probe.h:
user/elf/elf_file.h:
user/base/cleanup.h:
user/elf/inlines.h:
user/model/symbol.h:
user/model/trigger.h:
user/probe/usdt_args.h:
bpf/usdt_arg.h:
user/arch/x86_64/registers.h:
user/source/alloc/allocators.h:
bpf/alloc_probe.h:
bpf/alloc.h:
user/source/alloc/recorder.h:
user/trigger/trigger.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
bpf/hit_action.h:
