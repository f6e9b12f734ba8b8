build-san/user/image/place.o: user/image/place.c user/image/place.h \
 user/image/image.h user/elf/inlines.h user/model/symbol.h \
 user/elf/landing.h user/image/jit_symbols.h user/base/array.h \
 user/base/cleanup.h user/elf/cfi.h user/elf/elf_handlers.h \
 user/elf/elf_file.h user/elf/elf_range.h user/image/object.h
user/image/place.h:
user/image/image.h:
user/elf/inlines.h:
user/model/symbol.h:
user/elf/landing.h:
user/image/jit_symbols.h:
user/base/array.h:
user/base/cleanup.h:
user/elf/cfi.h:
user/elf/elf_handlers.h:
user/elf/elf_file.h:
user/elf/elf_range.h:
user/image/object.h:
