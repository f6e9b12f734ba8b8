build-clang/user/elf/elf_ocaml.o: user/elf/elf_ocaml.c \
  user/elf/elf_internal.h user/elf/elf_file.h user/base/cleanup.h \
  user/elf/inlines.h user/model/symbol.h user/elf/elf_handlers.h \
  user/elf/landing.h user/elf/elf_range.h

user/elf/elf_internal.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/elf/elf_handlers.h:

user/elf/landing.h:

user/elf/elf_range.h:
