build-clang/user/base/reading.o: user/base/reading.c user/base/reading.h \
  user/base/cleanup.h

user/base/reading.h:

user/base/cleanup.h:
