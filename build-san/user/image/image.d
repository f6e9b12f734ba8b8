build-san/user/image/image.o: user/image/image.c user/image/image.h \
 user/elf/inlines.h user/model/symbol.h user/elf/landing.h \
 user/image/jit_symbols.h user/base/array.h user/base/cleanup.h \
 user/base/plain_file.h user/elf/cfi.h user/image/place.h \
 user/image/section_list.h
user/image/image.h:
user/elf/inlines.h:
user/model/symbol.h:
user/elf/landing.h:
user/image/jit_symbols.h:
user/base/array.h:
user/base/cleanup.h:
user/base/plain_file.h:
user/elf/cfi.h:
user/image/place.h:
user/image/section_list.h:
