build-san/user/trigger/resolve.o: user/trigger/resolve.c \
 user/base/array.h user/base/error.h user/base/path.h \
 user/condition/condition.h user/base/cleanup.h user/condition/prints.h \
 user/probe/matches.h user/elf/elf_file.h user/elf/inlines.h \
 user/model/symbol.h user/probe/not_found.h user/probe/places.h \
 user/model/trigger.h user/probe/spec.h user/probe/probe.h \
 user/trigger/trigger.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h
user/base/array.h:
user/base/error.h:
user/base/path.h:
user/condition/condition.h:
user/base/cleanup.h:
user/condition/prints.h:
user/probe/matches.h:
user/elf/elf_file.h:
user/elf/inlines.h:
user/model/symbol.h:
user/probe/not_found.h:
user/probe/places.h:
user/model/trigger.h:
user/probe/spec.h:
user/probe/probe.h:
user/trigger/trigger.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
