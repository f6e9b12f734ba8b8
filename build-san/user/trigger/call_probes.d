build-san/user/trigger/call_probes.o: user/trigger/call_probes.c \
 user/trigger/call_probes.h user/trigger/trigger.h user/base/cleanup.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h bpf/hit_action.h user/model/trigger.h \
 user/base/array.h user/base/error.h user/base/log.h bpf/rule.h \
 user/elf/elf_file.h user/elf/inlines.h user/model/symbol.h \
 user/probe/arg_layout.h bpf/usdt_arg.h user/probe/boundary.h \
 user/probe/exits.h user/probe/probe.h
user/trigger/call_probes.h:
user/trigger/trigger.h:
user/base/cleanup.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/model/trigger.h:
user/base/array.h:
user/base/error.h:
user/base/log.h:
bpf/rule.h:
user/elf/elf_file.h:
user/elf/inlines.h:
user/model/symbol.h:
user/probe/arg_layout.h:
bpf/usdt_arg.h:
user/probe/boundary.h:
user/probe/exits.h:
user/probe/probe.h:
