build-san/user/probe/boundary.o: user/probe/boundary.c \
 user/probe/boundary.h user/elf/elf_file.h user/base/cleanup.h \
 user/elf/inlines.h user/model/symbol.h user/base/error.h \
 user/elf/elf_range.h user/probe/site.h
user/probe/boundary.h:
user/elf/elf_file.h:
user/base/cleanup.h:
user/elf/inlines.h:
user/model/symbol.h:
user/base/error.h:
user/elf/elf_range.h:
user/probe/site.h:
