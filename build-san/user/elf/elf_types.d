build-san/user/elf/elf_types.o: user/elf/elf_types.c user/elf/elf_types.h \
 user/elf/elf_fields.h user/base/cleanup.h
user/elf/elf_types.h:
user/elf/elf_fields.h:
user/base/cleanup.h:
