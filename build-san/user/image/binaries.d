build-san/user/image/binaries.o: user/image/binaries.c \
 user/image/binaries.h user/base/cleanup.h user/model/snapshot.h \
 bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/sample.h user/model/trace_params.h user/base/array.h \
 user/base/log.h user/elf/elf_file.h user/elf/inlines.h \
 user/model/symbol.h user/model/sideband.h
user/image/binaries.h:
user/base/cleanup.h:
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
user/base/log.h:
user/elf/elf_file.h:
user/elf/inlines.h:
user/model/symbol.h:
user/model/sideband.h:
