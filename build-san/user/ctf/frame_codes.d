build-san/user/ctf/frame_codes.o: user/ctf/frame_codes.c \
 user/ctf/frame_codes.h user/base/cleanup.h user/ctf/event.h \
 user/base/array.h user/base/hash_index.h user/base/path.h \
 user/image/image.h user/elf/inlines.h user/model/symbol.h \
 user/elf/landing.h user/image/jit_symbols.h user/image/object.h \
 user/elf/elf_file.h
user/ctf/frame_codes.h:
user/base/cleanup.h:
user/ctf/event.h:
user/base/array.h:
user/base/hash_index.h:
user/base/path.h:
user/image/image.h:
user/elf/inlines.h:
user/model/symbol.h:
user/elf/landing.h:
user/image/jit_symbols.h:
user/image/object.h:
user/elf/elf_file.h:
