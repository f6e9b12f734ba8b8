build-san/user/source/alloc/allocators.o: user/source/alloc/allocators.c \
 user/source/alloc/allocators.h bpf/alloc_probe.h bpf/alloc.h \
 bpf/usdt_arg.h user/arch/x86_64/registers.h user/elf/elf_file.h \
 user/base/cleanup.h user/elf/inlines.h user/model/symbol.h \
 user/source/alloc/recorder.h user/trigger/trigger.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h bpf/hit_action.h \
 user/model/trigger.h user/base/array.h user/base/error.h user/base/log.h \
 user/base/path.h user/base/rights.h user/probe/matches.h \
 user/probe/probe.h user/probe/site.h user/process/maps.h \
 user/model/sideband.h user/model/snapshot.h user/model/call.h \
 user/model/sample.h user/model/trace_params.h \
 user/source/alloc/alloc_exits.h
user/source/alloc/allocators.h:
bpf/alloc_probe.h:
bpf/alloc.h:
bpf/usdt_arg.h:
user/arch/x86_64/registers.h:
user/elf/elf_file.h:
user/base/cleanup.h:
user/elf/inlines.h:
user/model/symbol.h:
user/source/alloc/recorder.h:
user/trigger/trigger.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
bpf/hit_action.h:
user/model/trigger.h:
user/base/array.h:
user/base/error.h:
user/base/log.h:
user/base/path.h:
user/base/rights.h:
user/probe/matches.h:
user/probe/probe.h:
user/probe/site.h:
user/process/maps.h:
user/model/sideband.h:
user/model/snapshot.h:
user/model/call.h:
user/model/sample.h:
user/model/trace_params.h:
user/source/alloc/alloc_exits.h:
