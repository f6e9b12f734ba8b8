build-clang/user/translate/runtime.o: user/translate/runtime.c \
  user/translate/runtime.h user/translate/layout.h user/translate/slot.h

user/translate/runtime.h:

user/translate/layout.h:

user/translate/slot.h:
