build-san/user/cli/capture/cmd_probes.o: user/cli/capture/cmd_probes.c \
 user/cli/cli.h user/base/error.h user/base/on_line.h user/base/path.h \
 user/cli/json.h user/probe/list.h user/elf/elf_file.h \
 user/base/cleanup.h user/elf/inlines.h user/model/symbol.h \
 user/process/maps.h user/model/sideband.h user/model/snapshot.h \
 bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/sample.h user/model/trace_params.h user/process/program.h
user/cli/cli.h:
user/base/error.h:
user/base/on_line.h:
user/base/path.h:
user/cli/json.h:
user/probe/list.h:
user/elf/elf_file.h:
user/base/cleanup.h:
user/elf/inlines.h:
user/model/symbol.h:
user/process/maps.h:
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
user/process/program.h:
