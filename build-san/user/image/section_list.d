build-san/user/image/section_list.o: user/image/section_list.c \
 user/image/section_list.h user/image/image.h user/elf/inlines.h \
 user/model/symbol.h user/elf/landing.h user/image/jit_symbols.h
user/image/section_list.h:
user/image/image.h:
user/elf/inlines.h:
user/model/symbol.h:
user/elf/landing.h:
user/image/jit_symbols.h:
