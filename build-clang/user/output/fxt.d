build-clang/user/output/fxt.o: user/output/fxt.c user/base/error.h \
  user/output/fxt_record.h user/output/output.h user/base/cleanup.h \
  user/output/shown.h user/model/timeline.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/symbol.h \
  user/output/sink.h user/output/walk.h

user/base/error.h:

user/output/fxt_record.h:

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
