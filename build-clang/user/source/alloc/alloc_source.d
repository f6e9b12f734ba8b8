build-clang/user/source/alloc/alloc_source.o: \
  user/source/alloc/alloc_source.c user/base/array.h user/base/error.h \
  user/base/log.h user/probe/probe.h user/elf/elf_file.h \
  user/base/cleanup.h user/elf/inlines.h user/model/symbol.h \
  user/model/trigger.h user/probe/probe_map.h user/model/sideband.h \
  user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
  user/model/trace_params.h user/source/alloc/recorder.h \
  user/trigger/trigger.h user/source/source.h

user/base/array.h:

user/base/error.h:

user/base/log.h:

user/probe/probe.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/model/trigger.h:

user/probe/probe_map.h:

user/model/sideband.h:

user/model/snapshot.h:

bpf/alloc.h:

user/model/call.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/sample.h:

user/model/trace_params.h:

user/source/alloc/recorder.h:

user/trigger/trigger.h:

user/source/source.h:
