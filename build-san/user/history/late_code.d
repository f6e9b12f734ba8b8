build-san/user/history/late_code.o: user/history/late_code.c \
 user/history/late_code.h user/base/cleanup.h user/base/sort.h \
 user/image/image.h user/elf/inlines.h user/model/symbol.h \
 user/elf/landing.h user/image/jit_symbols.h user/model/sideband.h \
 user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
 user/base/array.h
user/history/late_code.h:
user/base/cleanup.h:
user/base/sort.h:
user/image/image.h:
user/elf/inlines.h:
user/model/symbol.h:
user/elf/landing.h:
user/image/jit_symbols.h:
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
user/base/array.h:
