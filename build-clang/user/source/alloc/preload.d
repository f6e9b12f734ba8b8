build-clang/user/source/alloc/preload.o: user/source/alloc/preload.c \
  user/source/alloc/preload.h user/base/array.h user/base/cleanup.h \
  user/base/error.h user/base/rights.h user/elf/elf_file.h \
  user/elf/inlines.h user/model/symbol.h user/process/launch.h

user/source/alloc/preload.h:

user/base/array.h:

user/base/cleanup.h:

user/base/error.h:

user/base/rights.h:

user/elf/elf_file.h:

user/elf/inlines.h:

user/model/symbol.h:

user/process/launch.h:
