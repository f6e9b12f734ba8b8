build-san/user/elf/elf_frames.o: user/elf/elf_frames.c user/base/array.h \
 user/base/sort.h user/elf/elf_internal.h user/elf/elf_file.h \
 user/base/cleanup.h user/elf/inlines.h user/model/symbol.h \
 user/elf/elf_handlers.h user/elf/landing.h user/elf/elf_range.h
user/base/array.h:
user/base/sort.h:
user/elf/elf_internal.h:
user/elf/elf_file.h:
user/base/cleanup.h:
user/elf/inlines.h:
user/model/symbol.h:
user/elf/elf_handlers.h:
user/elf/landing.h:
user/elf/elf_range.h:
