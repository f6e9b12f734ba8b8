build-clang/user/probe/places.o: user/probe/places.c user/probe/places.h \
  user/elf/elf_file.h user/base/cleanup.h user/elf/inlines.h \
  user/model/symbol.h user/model/trigger.h user/probe/spec.h \
  user/base/array.h user/base/error.h user/probe/arg_layout.h \
  bpf/hit_action.h bpf/usdt_arg.h user/arch/x86_64/registers.h \
  user/probe/boundary.h user/probe/matches.h user/probe/probe.h

user/probe/places.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/model/trigger.h:

user/probe/spec.h:

user/base/array.h:

user/base/error.h:

user/probe/arg_layout.h:

bpf/hit_action.h:

bpf/usdt_arg.h:

user/arch/x86_64/registers.h:

user/probe/boundary.h:

user/probe/matches.h:

user/probe/probe.h:
