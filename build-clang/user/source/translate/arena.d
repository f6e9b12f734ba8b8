build-clang/user/source/translate/arena.o: user/source/translate/arena.c \
  user/source/translate/arena.h user/base/cleanup.h \
  user/translate/layout.h user/base/error.h \
  user/source/translate/runtime_file.h user/translate/slot.h

user/source/translate/arena.h:

user/base/cleanup.h:

user/translate/layout.h:

user/base/error.h:

user/source/translate/runtime_file.h:

user/translate/slot.h:
