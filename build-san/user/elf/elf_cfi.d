build-san/user/elf/elf_cfi.o: user/elf/elf_cfi.c user/base/array.h \
 user/base/hash_index.h user/elf/cfi.h user/elf/elf_internal.h \
 user/elf/elf_file.h user/base/cleanup.h user/elf/inlines.h \
 user/model/symbol.h user/elf/elf_handlers.h user/elf/landing.h \
 user/elf/elf_range.h
user/base/array.h:
user/base/hash_index.h:
user/elf/cfi.h:
user/elf/elf_internal.h:
user/elf/elf_file.h:
user/base/cleanup.h:
user/elf/inlines.h:
user/model/symbol.h:
user/elf/elf_handlers.h:
user/elf/landing.h:
user/elf/elf_range.h:
