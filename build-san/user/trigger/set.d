build-san/user/trigger/set.o: user/trigger/set.c user/base/error.h \
 user/base/log.h bpf/rule.h bpf/hit_action.h build-san/bpf/trigger.skel.h \
 user/trigger/foreign_links.h user/trigger/trigger.h user/base/cleanup.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h user/model/trigger.h \
 user/trigger/hit_record.h bpf/hit.h user/trigger/hit_ring.h \
 user/trigger/links.h user/process/keeper.h user/trigger/programs.h \
 user/condition/condition.h user/trigger/uprobe_multi.h
user/base/error.h:
user/base/log.h:
bpf/rule.h:
bpf/hit_action.h:
build-san/bpf/trigger.skel.h:
user/trigger/foreign_links.h:
user/trigger/trigger.h:
user/base/cleanup.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/model/trigger.h:
user/trigger/hit_record.h:
bpf/hit.h:
user/trigger/hit_ring.h:
user/trigger/links.h:
user/process/keeper.h:
user/trigger/programs.h:
user/condition/condition.h:
user/trigger/uprobe_multi.h:
