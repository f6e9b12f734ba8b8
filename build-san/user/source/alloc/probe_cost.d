build-san/user/source/alloc/probe_cost.o: user/source/alloc/probe_cost.c \
 user/source/alloc/probe_cost.h user/base/array.h user/base/clock.h \
 user/base/error.h user/process/maps.h user/model/sideband.h \
 user/model/snapshot.h user/base/cleanup.h bpf/alloc.h user/model/call.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h bpf/hit_action.h user/model/sample.h \
 user/model/trace_params.h user/trigger/links.h user/process/keeper.h \
 user/trigger/programs.h user/condition/condition.h \
 user/trigger/trigger.h user/model/trigger.h user/trigger/uprobe_multi.h
user/source/alloc/probe_cost.h:
user/base/array.h:
user/base/clock.h:
user/base/error.h:
user/process/maps.h:
user/model/sideband.h:
user/model/snapshot.h:
user/base/cleanup.h:
bpf/alloc.h:
user/model/call.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/model/sample.h:
user/model/trace_params.h:
user/trigger/links.h:
user/process/keeper.h:
user/trigger/programs.h:
user/condition/condition.h:
user/trigger/trigger.h:
user/model/trigger.h:
user/trigger/uprobe_multi.h:
