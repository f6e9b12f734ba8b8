build-clang/user/probe/matches.o: user/probe/matches.c \
  user/probe/matches.h user/elf/elf_file.h user/base/cleanup.h \
  user/elf/inlines.h user/model/symbol.h user/base/array.h \
  user/base/error.h user/probe/ifunc.h

user/probe/matches.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/base/array.h:

user/base/error.h:

user/probe/ifunc.h:
