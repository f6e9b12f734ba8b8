build-san/user/cli/complete.o: user/cli/complete.c user/cli/complete.h \
 user/base/array.h user/base/cleanup.h user/base/on_line.h \
 user/cli/option_table.h user/cli/process_list.h user/elf/elf_file.h \
 user/elf/inlines.h user/model/symbol.h user/output/sink.h \
 user/model/timeline.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/output/output.h user/probe/list.h user/process/program.h \
 user/trigger/trigger.h user/model/trigger.h
user/cli/complete.h:
user/base/array.h:
user/base/cleanup.h:
user/base/on_line.h:
user/cli/option_table.h:
user/cli/process_list.h:
user/elf/elf_file.h:
user/elf/inlines.h:
user/model/symbol.h:
user/output/sink.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/output/output.h:
user/probe/list.h:
user/process/program.h:
user/trigger/trigger.h:
user/model/trigger.h:
