build-san/user/rebuild/build_traces.o: user/rebuild/build_traces.c \
 user/base/array.h user/base/error.h user/base/log.h user/base/sort.h \
 user/base/spill.h user/base/cleanup.h user/history/uprobe_code.h \
 user/history/history.h user/decode/decoder.h user/model/branch.h \
 user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
 user/image/binaries.h user/image/image.h user/elf/inlines.h \
 user/model/symbol.h user/elf/landing.h user/image/jit_symbols.h \
 user/rebuild/decoded.h user/rebuild/decode.h user/model/timeline.h \
 user/rebuild/input.h user/rebuild/place_hits.h user/rebuild/resolver.h \
 user/stacks/stacks.h user/rebuild/traces.h user/history/schedule.h \
 user/stacks/off_cpu.h
user/base/array.h:
user/base/error.h:
user/base/log.h:
user/base/sort.h:
user/base/spill.h:
user/base/cleanup.h:
user/history/uprobe_code.h:
user/history/history.h:
user/decode/decoder.h:
user/model/branch.h:
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
user/image/binaries.h:
user/image/image.h:
user/elf/inlines.h:
user/model/symbol.h:
user/elf/landing.h:
user/image/jit_symbols.h:
user/rebuild/decoded.h:
user/rebuild/decode.h:
user/model/timeline.h:
user/rebuild/input.h:
user/rebuild/place_hits.h:
user/rebuild/resolver.h:
user/stacks/stacks.h:
user/rebuild/traces.h:
user/history/schedule.h:
user/stacks/off_cpu.h:
