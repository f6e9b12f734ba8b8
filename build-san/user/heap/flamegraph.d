build-san/user/heap/flamegraph.o: user/heap/flamegraph.c \
 user/heap/flamegraph.h user/heap/tree.h user/heap/trace.h \
 user/ctf/reader.h user/base/cleanup.h user/ctf/event.h \
 user/heap/filter.h user/output/output.h user/base/array.h \
 user/output/embed.h user/output/json_text.h user/output/shown.h \
 user/model/timeline.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/symbol.h
user/heap/flamegraph.h:
user/heap/tree.h:
user/heap/trace.h:
user/ctf/reader.h:
user/base/cleanup.h:
user/ctf/event.h:
user/heap/filter.h:
user/output/output.h:
user/base/array.h:
user/output/embed.h:
user/output/json_text.h:
user/output/shown.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/model/symbol.h:
