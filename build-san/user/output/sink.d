build-san/user/output/sink.o: user/output/sink.c user/output/sink.h \
 user/model/timeline.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 user/base/cleanup.h bpf/hit_action.h user/model/symbol.h \
 user/output/output.h user/base/array.h user/base/error.h \
 user/base/path.h
user/output/sink.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/base/cleanup.h:
bpf/hit_action.h:
user/model/symbol.h:
user/output/output.h:
user/base/array.h:
user/base/error.h:
user/base/path.h:
