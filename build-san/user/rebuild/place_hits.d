build-san/user/rebuild/place_hits.o: user/rebuild/place_hits.c \
 user/rebuild/place_hits.h user/model/snapshot.h user/base/cleanup.h \
 bpf/alloc.h user/model/call.h user/model/hit.h user/arch/arch.h \
 user/arch/x86_64/machine.h user/arch/x86_64/registers.h bpf/hit_action.h \
 user/model/sample.h user/model/trace_params.h user/model/timeline.h \
 user/model/symbol.h user/base/array.h user/model/slice_cursor.h \
 user/rebuild/slice_index.h
user/rebuild/place_hits.h:
user/model/snapshot.h:
user/base/cleanup.h:
bpf/alloc.h:
user/model/call.h:
user/model/hit.h:
user/arch/arch.h:
user/arch/x86_64/machine.h:
user/arch/x86_64/registers.h:
bpf/hit_action.h:
user/model/sample.h:
user/model/trace_params.h:
user/model/timeline.h:
user/model/symbol.h:
user/base/array.h:
user/model/slice_cursor.h:
user/rebuild/slice_index.h:
