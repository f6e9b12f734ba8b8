build-san/user/cli/show/cmd_dump.o: user/cli/show/cmd_dump.c \
 user/cli/cli.h user/base/array.h user/base/error.h user/base/on_line.h \
 user/decode/decoder.h user/base/cleanup.h user/model/branch.h \
 user/model/snapshot.h bpf/alloc.h user/model/call.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
 user/model/sideband.h user/output/shown.h user/model/timeline.h \
 user/model/symbol.h user/output/output.h user/output/sink.h \
 user/rebuild/decode.h user/recording/recording.h
user/cli/cli.h:
user/base/array.h:
user/base/error.h:
user/base/on_line.h:
user/decode/decoder.h:
user/base/cleanup.h:
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
user/model/sideband.h:
user/output/shown.h:
user/model/timeline.h:
user/model/symbol.h:
user/output/output.h:
user/output/sink.h:
user/rebuild/decode.h:
user/recording/recording.h:
