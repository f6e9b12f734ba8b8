build-san/user/output/json.o: user/output/json.c user/base/error.h \
 user/output/json_text.h user/output/output.h user/base/cleanup.h \
 user/output/shown.h user/model/timeline.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/model/symbol.h user/output/sink.h \
 user/output/walk.h
user/base/error.h:
user/output/json_text.h:
user/output/output.h:
user/base/cleanup.h:
user/output/shown.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/model/symbol.h:
user/output/sink.h:
user/output/walk.h:
