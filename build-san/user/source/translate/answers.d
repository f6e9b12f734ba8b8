build-san/user/source/translate/answers.o: \
 user/source/translate/answers.c user/base/array.h user/base/clock.h \
 user/base/error.h user/model/sideband.h user/model/snapshot.h \
 user/base/cleanup.h bpf/alloc.h user/model/call.h user/model/hit.h \
 user/arch/arch.h user/arch/x86_64/machine.h user/arch/x86_64/registers.h \
 bpf/hit_action.h user/model/sample.h user/model/trace_params.h \
 user/probe/probe_map.h user/model/trigger.h \
 user/source/translate/translate_internal.h user/process/maps.h \
 user/source/encoder.h user/source/aux_ring.h \
 user/source/translate/arena.h user/translate/layout.h \
 user/source/translate/translate.h user/source/translate/words.h
user/base/array.h:
user/base/clock.h:
user/base/error.h:
user/model/sideband.h:
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
user/probe/probe_map.h:
user/model/trigger.h:
user/source/translate/translate_internal.h:
user/process/maps.h:
user/source/encoder.h:
user/source/aux_ring.h:
user/source/translate/arena.h:
user/translate/layout.h:
user/source/translate/translate.h:
user/source/translate/words.h:
