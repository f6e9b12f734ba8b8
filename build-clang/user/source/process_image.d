build-clang/user/source/process_image.o: user/source/process_image.c \
  user/source/process_image.h user/base/cleanup.h user/image/image.h \
  user/elf/inlines.h user/model/symbol.h user/elf/landing.h \
  user/image/jit_symbols.h user/base/clock.h user/model/sideband.h \
  user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
  user/model/trace_params.h user/process/maps.h \
  user/source/mapping_events.h

user/source/process_image.h:

user/base/cleanup.h:

user/image/image.h:

user/elf/inlines.h:

user/model/symbol.h:

user/elf/landing.h:

user/image/jit_symbols.h:

user/base/clock.h:

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

user/process/maps.h:

user/source/mapping_events.h:
