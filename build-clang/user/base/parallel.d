build-clang/user/base/parallel.o: user/base/parallel.c \
  user/base/parallel.h user/base/error.h

user/base/parallel.h:

user/base/error.h:
