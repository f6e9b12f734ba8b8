build-clang/user/probe/exits.o: user/probe/exits.c user/probe/exits.h \
  user/base/cleanup.h user/elf/elf_file.h user/elf/inlines.h \
  user/model/symbol.h user/base/array.h user/base/error.h \
  user/base/sort.h user/elf/elf_handlers.h user/elf/landing.h \
  user/elf/elf_range.h user/probe/flow.h

user/probe/exits.h:

user/base/cleanup.h:

user/elf/elf_file.h:

user/elf/inlines.h:

user/model/symbol.h:

user/base/array.h:

user/base/error.h:

user/base/sort.h:

user/elf/elf_handlers.h:

user/elf/landing.h:

user/elf/elf_range.h:

user/probe/flow.h:
