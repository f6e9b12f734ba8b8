build-san/user/trigger/foreign_links.o: user/trigger/foreign_links.c \
 user/trigger/foreign_links.h user/trigger/trigger.h user/base/cleanup.h \
 user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
 user/arch/x86_64/registers.h bpf/hit_action.h user/model/trigger.h \
 user/base/error.h user/base/log.h user/base/sort.h \
 user/trigger/uprobe_multi.h
user/trigger/foreign_links.h:
user/trigger/trigger.h:
user/base/cleanup.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/model/trigger.h:
user/base/error.h:
user/base/log.h:
user/base/sort.h:
user/trigger/uprobe_multi.h:
