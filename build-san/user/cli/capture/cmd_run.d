build-san/user/cli/capture/cmd_run.o: user/cli/capture/cmd_run.c \
 user/cli/cli.h user/base/error.h user/base/log.h \
 user/capture/interrupt.h user/cli/capture/capture_options.h \
 user/capture/capture.h user/base/cleanup.h user/model/snapshot.h \
 bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/sample.h user/model/trace_params.h user/source/source.h \
 user/model/sideband.h user/model/trigger.h user/trigger/trigger.h \
 user/cli/capture/trigger_options.h user/cli/outputs.h \
 user/rebuild/decode.h user/decode/decoder.h user/model/branch.h \
 user/model/timeline.h user/model/symbol.h user/cli/front.h \
 user/process/launch.h user/process/program.h
user/cli/cli.h:
user/base/error.h:
user/base/log.h:
user/capture/interrupt.h:
user/cli/capture/capture_options.h:
user/capture/capture.h:
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
user/source/source.h:
user/model/sideband.h:
user/model/trigger.h:
user/trigger/trigger.h:
user/cli/capture/trigger_options.h:
user/cli/outputs.h:
user/rebuild/decode.h:
user/decode/decoder.h:
user/model/branch.h:
user/model/timeline.h:
user/model/symbol.h:
user/cli/front.h:
user/process/launch.h:
user/process/program.h:
