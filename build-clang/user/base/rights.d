build-clang/user/base/rights.o: user/base/rights.c user/base/rights.h \
  user/base/array.h user/base/cleanup.h user/base/error.h

user/base/rights.h:

user/base/array.h:

user/base/cleanup.h:

user/base/error.h:
