build-san/user/probe/not_found.o: user/probe/not_found.c \
 user/probe/not_found.h user/base/error.h user/elf/elf_file.h \
 user/base/cleanup.h user/elf/inlines.h user/model/symbol.h \
 user/probe/debug_package.h
user/probe/not_found.h:
user/base/error.h:
user/elf/elf_file.h:
user/base/cleanup.h:
user/elf/inlines.h:
user/model/symbol.h:
user/probe/debug_package.h:
