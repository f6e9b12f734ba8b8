build-san/user/image/object.o: user/image/object.c user/image/object.h \
 user/elf/elf_file.h user/base/cleanup.h user/elf/inlines.h \
 user/model/symbol.h user/image/image.h user/elf/landing.h \
 user/image/jit_symbols.h user/base/array.h
user/image/object.h:
user/elf/elf_file.h:
user/base/cleanup.h:
user/elf/inlines.h:
user/model/symbol.h:
user/image/image.h:
user/elf/landing.h:
user/image/jit_symbols.h:
user/base/array.h:
