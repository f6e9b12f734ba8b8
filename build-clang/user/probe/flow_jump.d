build-clang/user/probe/flow_jump.o: user/probe/flow_jump.c user/elf/cfi.h \
  user/probe/flow.h user/elf/elf_file.h user/base/cleanup.h \
  user/elf/inlines.h user/model/symbol.h

user/elf/cfi.h:

user/probe/flow.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:
