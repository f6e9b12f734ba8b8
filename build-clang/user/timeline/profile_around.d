build-clang/user/timeline/profile_around.o: \
  user/timeline/profile_around.c user/timeline/profile.h \
  user/base/cleanup.h user/model/timeline.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/symbol.h

user/timeline/profile.h:

user/base/cleanup.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/symbol.h:
