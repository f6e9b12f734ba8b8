build-san/user/output/walk.o: user/output/walk.c user/output/walk.h \
 user/model/timeline.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 user/base/cleanup.h bpf/hit_action.h user/model/symbol.h \
 user/base/array.h user/base/log.h user/base/sort.h \
 user/model/slice_cursor.h
user/output/walk.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/base/cleanup.h:
bpf/hit_action.h:
user/model/symbol.h:
user/base/array.h:
user/base/log.h:
user/base/sort.h:
user/model/slice_cursor.h:
