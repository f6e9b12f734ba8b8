build-clang/user/probe/ifunc.o: user/probe/ifunc.c user/probe/ifunc.h \
  user/elf/elf_file.h user/base/cleanup.h user/elf/inlines.h \
  user/model/symbol.h user/base/array.h

user/probe/ifunc.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/base/array.h:
