build-clang/user/heap/recording.o: user/heap/recording.c \
  user/heap/recording.h user/base/cleanup.h user/output/output.h \
  user/source/alloc/recorder.h bpf/alloc.h user/trigger/trigger.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/trigger.h \
  user/base/clock.h user/ctf/frame_codes.h user/ctf/event.h \
  user/ctf/writer.h user/heap/live_table.h user/image/unwind.h \
  user/source/process_image.h user/image/image.h user/elf/inlines.h \
  user/model/symbol.h user/elf/landing.h user/image/jit_symbols.h

user/heap/recording.h:

user/base/cleanup.h:

user/output/output.h:

user/source/alloc/recorder.h:

bpf/alloc.h:

user/trigger/trigger.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/trigger.h:

user/base/clock.h:

user/ctf/frame_codes.h:

user/ctf/event.h:

user/ctf/writer.h:

user/heap/live_table.h:

user/image/unwind.h:

user/source/process_image.h:

user/image/image.h:

user/elf/inlines.h:

user/model/symbol.h:

user/elf/landing.h:

user/image/jit_symbols.h:
