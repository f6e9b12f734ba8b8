build-clang/user/elf/elf_fields.o: user/elf/elf_fields.c \
  user/elf/elf_fields.h user/arch/arch.h user/arch/x86_64/machine.h \
  user/arch/x86_64/registers.h user/base/error.h user/elf/elf_internal.h \
  user/elf/elf_file.h user/base/cleanup.h user/elf/inlines.h \
  user/model/symbol.h user/elf/elf_handlers.h user/elf/landing.h \
  user/elf/elf_range.h user/elf/elf_types.h

user/elf/elf_fields.h:

user/arch/arch.h:

user/arch/x86_64/machine.h:

user/arch/x86_64/registers.h:

user/base/error.h:

user/elf/elf_internal.h:

user/elf/elf_file.h:

user/base/cleanup.h:

user/elf/inlines.h:

user/model/symbol.h:

user/elf/elf_handlers.h:

user/elf/landing.h:

user/elf/elf_range.h:

user/elf/elf_types.h:
