build-clang/user/base/error.o: user/base/error.c user/base/error.h \
  user/base/on_line.h

user/base/error.h:

user/base/on_line.h:
