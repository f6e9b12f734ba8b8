build-clang/user/probe/address_filters.o: user/probe/address_filters.c \
  user/probe/address_filters.h user/model/trigger.h user/base/array.h \
  user/base/error.h user/elf/elf_file.h user/base/cleanup.h \
  user/elf/inlines.h user/model/symbol.h

user/probe/address_filters.h:

user/model/trigger.h:

user/base/array.h:

user/base/error.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:
