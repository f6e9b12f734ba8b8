build-clang/user/capture/interrupt.o: user/capture/interrupt.c \
  user/capture/interrupt.h user/base/array.h

user/capture/interrupt.h:

user/base/array.h:
