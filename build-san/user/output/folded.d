build-san/user/output/folded.o: user/output/folded.c user/base/array.h \
 user/base/cleanup.h user/output/names.h user/output/shown.h \
 user/model/timeline.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/symbol.h user/output/output.h user/output/sink.h \
 user/output/walk.h
user/base/array.h:
user/base/cleanup.h:
user/output/names.h:
user/output/shown.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/model/symbol.h:
user/output/output.h:
user/output/sink.h:
user/output/walk.h:
