build-san/user/trigger/links.o: user/trigger/links.c user/trigger/links.h \
 user/process/keeper.h user/trigger/programs.h user/condition/condition.h \
 user/base/cleanup.h user/trigger/trigger.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/model/trigger.h user/trigger/uprobe_multi.h \
 user/base/array.h user/base/error.h user/base/log.h bpf/rule.h \
 user/trigger/perf_uprobe.h user/trigger/privilege.h
user/trigger/links.h:
user/process/keeper.h:
user/trigger/programs.h:
user/condition/condition.h:
user/base/cleanup.h:
user/trigger/trigger.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/model/trigger.h:
user/trigger/uprobe_multi.h:
user/base/array.h:
user/base/error.h:
user/base/log.h:
bpf/rule.h:
user/trigger/perf_uprobe.h:
user/trigger/privilege.h:
