build-clang/user/output/html_data.o: user/output/html_data.c \
  user/base/array.h user/base/error.h user/base/spill.h \
  user/base/cleanup.h user/output/html.h user/model/timeline.h \
  user/model/hit.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/symbol.h \
  user/output/gzip.h user/output/output.h user/output/shown.h

user/base/array.h:

user/base/error.h:

user/base/spill.h:

user/base/cleanup.h:

user/output/html.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/symbol.h:

user/output/gzip.h:

user/output/output.h:

user/output/shown.h:
