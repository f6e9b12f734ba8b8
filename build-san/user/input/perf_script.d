build-san/user/input/perf_script.o: user/input/perf_script.c \
 user/input/perf_script.h user/base/cleanup.h user/model/branch.h \
 user/model/symbol.h user/stacks/stacks.h user/elf/inlines.h \
 user/elf/landing.h user/model/timeline.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/base/array.h user/base/error.h user/base/log.h \
 user/base/plain_file.h user/input/perf_script_line.h
user/input/perf_script.h:
user/base/cleanup.h:
user/model/branch.h:
user/model/symbol.h:
user/stacks/stacks.h:
user/elf/inlines.h:
user/elf/landing.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/base/array.h:
user/base/error.h:
user/base/log.h:
user/base/plain_file.h:
user/input/perf_script_line.h:
