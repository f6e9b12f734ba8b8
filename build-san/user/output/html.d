build-san/user/output/html.o: user/output/html.c user/output/html.h \
 user/model/timeline.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 user/base/cleanup.h bpf/hit_action.h user/model/symbol.h \
 user/output/gzip.h user/output/output.h user/base/error.h \
 user/base/log.h user/output/embed.h user/output/sink.h
user/output/html.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
user/base/cleanup.h:
bpf/hit_action.h:
user/model/symbol.h:
user/output/gzip.h:
user/output/output.h:
user/base/error.h:
user/base/log.h:
user/output/embed.h:
user/output/sink.h:
