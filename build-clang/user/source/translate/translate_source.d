build-clang/user/source/translate/translate_source.o: \
  user/source/translate/translate_source.c user/base/error.h \
  user/base/log.h user/process/launch.h user/session/driver.h \
  user/session/session.h user/base/cleanup.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/snapshot.h \
  bpf/alloc.h user/model/call.h user/model/sample.h \
  user/model/trace_params.h user/process/maps.h user/model/sideband.h \
  user/source/source.h user/model/trigger.h \
  user/source/translate/translate.h

user/base/error.h:

user/base/log.h:

user/process/launch.h:

user/session/driver.h:

user/session/session.h:

user/base/cleanup.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/snapshot.h:

bpf/alloc.h:

user/model/call.h:

user/model/sample.h:

user/model/trace_params.h:

user/process/maps.h:

user/model/sideband.h:

user/source/source.h:

user/model/trigger.h:

user/source/translate/translate.h:
