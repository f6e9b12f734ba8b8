build-clang/user/probe/probe_map.o: user/probe/probe_map.c \
  user/probe/probe_map.h user/model/sideband.h user/model/snapshot.h \
  user/base/cleanup.h bpf/alloc.h user/model/call.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
  user/model/trace_params.h user/model/trigger.h user/probe/probe.h \
  user/elf/elf_file.h user/elf/inlines.h user/model/symbol.h \
  user/base/error.h

user/probe/probe_map.h:

user/model/sideband.h:

user/model/snapshot.h:

user/base/cleanup.h:

bpf/alloc.h:

user/model/call.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/sample.h:

user/model/trace_params.h:

user/model/trigger.h:

user/probe/probe.h:

user/elf/elf_file.h:

user/elf/inlines.h:

user/model/symbol.h:

user/base/error.h:
