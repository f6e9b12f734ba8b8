build-clang/user/probe/list.o: user/probe/list.c user/probe/list.h \
  user/elf/elf_file.h user/base/cleanup.h user/elf/inlines.h \
  user/model/symbol.h

user/probe/list.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:
