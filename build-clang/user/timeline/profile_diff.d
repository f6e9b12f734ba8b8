build-clang/user/timeline/profile_diff.o: user/timeline/profile_diff.c \
  user/timeline/profile_diff.h user/timeline/profile.h \
  user/base/cleanup.h user/model/timeline.h user/model/hit.h \
  user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h bpf/hit_action.h user/model/symbol.h \
  user/base/sort.h

user/timeline/profile_diff.h:

user/timeline/profile.h:

user/base/cleanup.h:

user/model/timeline.h:

user/model/hit.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

bpf/hit_action.h:

user/model/symbol.h:

user/base/sort.h:
