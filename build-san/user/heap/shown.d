build-san/user/heap/shown.o: user/heap/shown.c user/heap/shown.h \
 user/heap/trace.h user/ctf/reader.h user/base/cleanup.h user/ctf/event.h \
 user/heap/filter.h user/model/timeline.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/model/symbol.h user/base/array.h user/base/spill.h \
 user/heap/tree.h
user/heap/shown.h:
user/heap/trace.h:
user/ctf/reader.h:
user/base/cleanup.h:
user/ctf/event.h:
user/heap/filter.h:
user/model/timeline.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/model/symbol.h:
user/base/array.h:
user/base/spill.h:
user/heap/tree.h:
